import { Group, Stack, Text } from '@mantine/core'
import { IconDownload, IconFileText } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'
import { FileState } from './file-state.js'

/** A document: its name, with a link. */
export function Document({ message, filename: given }: { message: ThreadMessage; filename: string | null }) {
  const { t } = useTranslation('thread')
  const filename = given ?? t('kinds.document')
  const extension = /\.([a-z0-9]{1,5})$/i.exec(filename)?.[1]?.toUpperCase()
  if (message.media_url === null) {
    return (
      <span className={classes.box}>
        <Text size="sm" fw={500} lineClamp={2}>
          {filename}
        </Text>
        <FileState message={message} />
      </span>
    )
  }
  return (
    <a
      href={message.media_url}
      target="_blank"
      rel="noopener"
      download={filename}
      className={classes.box}
      aria-label={t('download', { what: filename })}
    >
      <Group gap="sm" wrap="nowrap">
        <IconFileText aria-hidden size={30} stroke={1.4} />
        <Stack gap={0} flex={1} miw={0}>
          <Text size="sm" fw={500} lineClamp={2} className={classes.text} p={0}>
            {filename}
          </Text>
          {extension && (
            <Text size="xs" className={classes.dim}>
              {extension}
            </Text>
          )}
        </Stack>
        <IconDownload aria-hidden size={20} stroke={1.6} />
      </Group>
    </a>
  )
}

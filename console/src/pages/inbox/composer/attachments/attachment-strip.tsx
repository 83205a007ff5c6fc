import { ActionIcon, Group, Stack, Switch, Text } from '@mantine/core'
import { IconFileText, IconVideo, IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../../shared/format.js'
import { Player } from '../../thread/message/kinds/audio.js'
import classes from '../composer.module.css'
import type { Attachment } from './prepare-file.js'
import type { Attachments } from './use-attachments.js'

/** Previews of the attached files, and how they are sent. */
export function AttachmentStrip({ attachments: { all, change, remove } }: { attachments: Attachments }) {
  const { t } = useTranslation('thread')
  return (
    <ul className={classes.strip} aria-label={t('attachments')}>
      {all.map((attachment) => (
        <li key={attachment.key} className={classes.attachment} data-kind={attachment.kind}>
          <Look attachment={attachment} />
          {attachment.kind === 'audio' && (
            <Switch
              size="xs"
              mt={6}
              label={t('asVoice')}
              checked={attachment.isVoice}
              onChange={({ currentTarget }) => change(attachment.key, { isVoice: currentTarget.checked })}
            />
          )}
          {attachment.sticker && (
            <Switch
              size="xs"
              m={6}
              label={t('asSticker')}
              checked={attachment.isSticker}
              onChange={({ currentTarget }) => change(attachment.key, { isSticker: currentTarget.checked })}
            />
          )}
          <ActionIcon
            size="sm"
            radius="xl"
            variant="filled"
            color="dark"
            className={classes.removeFile}
            onClick={() => remove(attachment.key)}
            aria-label={t('removeFile', { name: attachment.file.name })}
          >
            <IconX aria-hidden size={14} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  )
}

function Look({ attachment: { kind, url, file, isVoice } }: { attachment: Attachment }) {
  const format = useFormat()
  if (kind === 'image') return <img src={url} alt={file.name} />
  if (kind === 'audio') return <Player url={url} isVoice={isVoice} />
  const Icon = kind === 'video' ? IconVideo : IconFileText
  return (
    <Group gap="xs" wrap="nowrap" pr={24}>
      <Icon aria-hidden size={28} stroke={1.4} />
      <Stack gap={0} miw={0}>
        <Text size="sm" fw={500} lineClamp={1}>
          {file.name}
        </Text>
        <Text size="xs">{format.bytes(file.size)}</Text>
      </Stack>
    </Group>
  )
}

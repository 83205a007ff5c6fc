import '@mantine/dropzone/styles.layer.css'
import { Center, Group, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { IconUpload } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

/** Accepts files that are dropped anywhere on the page. */
export default function DropTarget({ onFiles }: { onFiles: (files: File[]) => void }) {
  const { t } = useTranslation('thread')
  return (
    <Dropzone.FullScreen onDrop={onFiles} active aria-hidden tabIndex={-1}>
      <Center mih="60dvh">
        <Group gap="md">
          <IconUpload aria-hidden size={44} stroke={1.4} />
          <Text size="xl">{t('drop')}</Text>
        </Group>
      </Center>
    </Dropzone.FullScreen>
  )
}

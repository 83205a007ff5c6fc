import { Modal } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Instance } from '../../types.js'
import { Connect } from './connect.js'

interface ConnectDialogProps {
  opened: boolean
  instance: Instance | null
  onClose: () => void
}

/** Links a phone to an instance. */
export function ConnectDialog({ opened, instance, onClose }: ConnectDialogProps) {
  const { t } = useTranslation('settings')
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('instances.connectTitle', { name: instance?.name })}
      size="lg"
      closeOnClickOutside={false}
    >
      {instance && <Connect instance={instance} onClose={onClose} />}
    </Modal>
  )
}

import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { CopyField } from '../forms/copy-field.js'

interface ShownOnceProps {
  title: string
  /** How to use the secret. */
  hint: string
  label: string
  /** Null: the dialog is closed. */
  value: string | null
  onClose: () => void
}

/** Shows a secret once. The dialog closes only by its button. */
export function ShownOnce({ title, hint, label, value, onClose }: ShownOnceProps) {
  const { t } = useTranslation('settings')
  return (
    <Modal
      opened={value !== null}
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      // Without a transition, so that the secret leaves the page at once.
      transitionProps={{ exitDuration: 0 }}
    >
      <Stack>
        <Alert color="yellow" variant="light" icon={<IconAlertTriangle aria-hidden />}>
          {hint}
        </Alert>
        <CopyField label={label} value={value ?? ''} isLong />
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('shownOnce.done')}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

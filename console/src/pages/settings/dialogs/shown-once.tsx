import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { CopyField } from '../forms/copy-field.js'

interface ShownOnceProps {
  title: string
  /** What is to be done with it. */
  hint: string
  label: string
  /** Null: there is nothing to be shown. */
  value: string | null
  onClose: () => void
}

/** Shows a secret this once: it goes away only when somebody says so. */
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
      // It goes at once: nothing of it is kept to be faded out.
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

import { Alert, Button, Group } from '@mantine/core'
import { useTranslation } from 'react-i18next'

interface DialogButtonsProps {
  /** Label of the submit button. */
  action: string
  isPending: boolean
  problem: string | null
  onClose: () => void
}

/** The buttons at the end of a dialog's form. */
export function DialogButtons({ action, isPending, problem, onClose }: DialogButtonsProps) {
  const { t } = useTranslation()
  return (
    <>
      {problem && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button type="submit" loading={isPending}>
          {action}
        </Button>
      </Group>
    </>
  )
}

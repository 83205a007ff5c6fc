import { Alert, Button, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconAlertCircle } from '@tabler/icons-react'
import i18next from 'i18next'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../api/client.js'
import { translateProblem } from '../i18n/index.js'

/** The message of an error, in the page's language. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return i18next.t('unreachable', { ns: 'common' })
  // The service's message is for those who can do something about it; the top of the page says the rest to all.
  return error.error === 'Account restricted' ? i18next.t('number.refused', { ns: 'common' }) : translateProblem(error)
}

/** Shows an error as a notification. */
export function notifyError(error: unknown, title: string = i18next.t('failed', { ns: 'common' })): void {
  notifications.show({ color: 'red', title, message: messageOf(error), autoClose: 10_000 })
}

/** Shows a success as a notification. */
export function notifyDone(message: string): void {
  notifications.show({ color: 'teal', message })
}

/** Shown in place of content that could not be loaded. */
export function LoadProblem({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useTranslation()
  return (
    <Alert color="red" icon={<IconAlertCircle aria-hidden />} title={t('failed')} m="md">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{messageOf(error)}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            {t('retry')}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

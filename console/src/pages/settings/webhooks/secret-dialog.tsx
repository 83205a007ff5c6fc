import { useTranslation } from 'react-i18next'
import { ShownOnce } from '../dialogs/shown-once.js'

/** Shows the signing secret of a webhook. */
export function SecretDialog({ secret, onClose }: { secret: string | null; onClose: () => void }) {
  const { t } = useTranslation('settings')
  return (
    <ShownOnce
      title={t('webhooks.secretTitle')}
      hint={t('webhooks.secretHint')}
      label={t('webhooks.secret')}
      value={secret}
      onClose={onClose}
    />
  )
}

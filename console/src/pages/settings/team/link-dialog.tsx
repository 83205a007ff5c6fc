import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../shared/format.js'
import { ShownOnce } from '../dialogs/shown-once.js'
import type { Invitation } from '../types.js'

/** Shows a member's sign-in link. */
export function LinkDialog({ invitation, onClose }: { invitation: Invitation | null; onClose: () => void }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const name = invitation?.member.full_name
  return (
    <ShownOnce
      title={t('team.linkTitle', { name })}
      hint={t('team.linkHint', { name, at: invitation ? format.dateTime(invitation.link.expires_at) : '' })}
      label={t('team.link')}
      value={invitation?.link.url ?? null}
      onClose={onClose}
    />
  )
}

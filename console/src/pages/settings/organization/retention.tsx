import { Alert, DataList } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Organization } from '../../../api/types.js'
import { useFormat } from '../../../shared/format.js'
import { Panel } from '../frame/panel.js'

const KINDS = ['retention_days', 'message_retention_days', 'media_retention_days'] as const

/** How long data is kept, and the legal hold, which the operator sets. */
export function Retention({ organization }: { organization: Organization }) {
  const { t } = useTranslation('settings')
  const format = useFormat()
  const { legal_hold: hold } = organization
  const describe = (kind: (typeof KINDS)[number]) => {
    const days = organization[kind]
    if (days !== null) return t('organization.days', { count: days })
    return t(kind === 'media_retention_days' ? 'organization.withMessages' : 'organization.forever')
  }
  return (
    <Panel title={t('organization.retention')} hint={t('organization.retentionHint')}>
      {hold && (
        <Alert color="yellow" title={t('organization.held')}>
          {t('organization.heldBy', { since: format.dateTime(hold.since), by: hold.by, reason: hold.reason })}
        </Alert>
      )}
      <DataList>
        {KINDS.map((kind) => (
          <DataList.Item key={kind}>
            <DataList.ItemLabel>{t(`organization.${kind}`)}</DataList.ItemLabel>
            <DataList.ItemValue>{describe(kind)}</DataList.ItemValue>
          </DataList.Item>
        ))}
      </DataList>
    </Panel>
  )
}

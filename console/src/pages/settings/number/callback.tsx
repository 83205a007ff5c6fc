import { List } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { CopyField } from '../forms/copy-field.js'
import { Panel } from '../frame/panel.js'

/** The callback URL, and the steps to register it at WhatsApp with its fields. */
export function UpstreamCallback({ url, fields }: { url: string; fields: readonly string[] }) {
  const { t } = useTranslation('settings')
  return (
    <Panel title={t('number.callback')} hint={t('number.callbackHint')}>
      <CopyField label={t('number.callbackUrl')} value={url} />
      <List type="ordered" size="sm" spacing={6}>
        <List.Item>{t('number.callbackStep1')}</List.Item>
        <List.Item>{t('number.callbackStep2')}</List.Item>
        <List.Item>{t('number.callbackStep3')}</List.Item>
      </List>
      <CopyField label={t('number.callbackFields')} value={fields.join(', ')} isLong />
    </Panel>
  )
}

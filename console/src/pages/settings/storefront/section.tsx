import { List } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { CopyField } from '../forms/copy-field.js'
import { Loaded } from '../frame/loaded.js'
import { Panel } from '../frame/panel.js'
import { Section } from '../frame/section.js'
import { useSettings } from '../queries.js'
import { StorefrontForm } from './form.js'

/** The organization's shop. */
export function StorefrontSection() {
  const { t } = useTranslation('settings')
  const settings = useSettings()
  return (
    <Section title={t('storefront.title')} hint={t('storefront.hint')}>
      <Loaded query={settings}>
        {({ storefront, storefront_callback_url: callbackUrl }) => (
          <>
            <Panel>
              <StorefrontForm url={storefront?.url ?? null} />
            </Panel>
            <Panel title={t('storefront.callback')} hint={t('storefront.callbackHint')}>
              <CopyField label={t('storefront.callbackUrl')} value={callbackUrl} />
              <List type="ordered" size="sm" spacing={6}>
                <List.Item>{t('storefront.callbackStep1')}</List.Item>
                <List.Item>{t('storefront.callbackStep2')}</List.Item>
              </List>
            </Panel>
          </>
        )}
      </Loaded>
    </Section>
  )
}

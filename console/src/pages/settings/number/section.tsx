import { useTranslation } from 'react-i18next'
import { Loaded } from '../frame/loaded.js'
import { Panel } from '../frame/panel.js'
import { Section } from '../frame/section.js'
import { useSettings } from '../queries.js'
import { UpstreamCallback } from './callback.js'
import { ConnectPanel } from './connect/connect-panel.js'
import { HealthPanels } from './connect/health-panel.js'
import { UpstreamForm } from './form.js'
import { PhoneHistories } from './history.js'
import { Notices } from './notices.js'

/** The organization's business number. */
export function NumberSection() {
  const { t } = useTranslation('settings')
  const settings = useSettings()
  return (
    <Section title={t('number.title')} hint={t('number.hint')}>
      <Loaded query={settings}>
        {({ upstream, callback_url, callback_fields }) => (
          <>
            <HealthPanels />
            <Notices />
            <ConnectPanel upstream={upstream} />
            <Panel title={t('number.byHand')}>
              <UpstreamForm key={upstream?.phone_number_id} upstream={upstream} />
            </Panel>
            <PhoneHistories />
            <UpstreamCallback url={callback_url} fields={callback_fields} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

import { useTranslation } from 'react-i18next'
import { Loaded } from '../parts/loaded.js'
import { Panel } from '../parts/panel.js'
import { Section } from '../parts/section.js'
import { useSettings } from '../queries.js'
import { UpstreamCallback } from './callback.js'
import { UpstreamForm } from './form.js'

/** The organization's number at the upstream. */
export function NumberSection() {
  const { t } = useTranslation('settings')
  const settings = useSettings()
  return (
    <Section title={t('number.title')} hint={t('number.hint')}>
      <Loaded query={settings}>
        {({ upstream, callback_url }) => (
          <>
            <Panel>
              <UpstreamForm upstream={upstream} />
            </Panel>
            <UpstreamCallback url={callback_url} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

import { DataList } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { CopyField } from '../forms/copy-field.js'
import { Loaded } from '../frame/loaded.js'
import { Panel } from '../frame/panel.js'
import { Section } from '../frame/section.js'
import { useSettings } from '../queries.js'
import { OrganizationForm } from './form.js'
import { Retention } from './retention.js'

/** Name, country, time zone and other defaults of the organization. */
export function OrganizationSection() {
  const { t } = useTranslation('settings')
  const settings = useSettings()
  return (
    <Section title={t('organization.title')} hint={t('organization.hint')}>
      <Loaded query={settings}>
        {({ organization }) => (
          <>
            <Panel>
              <OrganizationForm organization={organization} />
            </Panel>
            <Retention organization={organization} />
            <Panel title={t('organization.identity')} hint={t('organization.identityHint')}>
              <CopyField label={t('organization.slug')} value={organization.slug} />
              <CopyField label={t('organization.id')} value={organization.id} />
              <DataList>
                <DataList.Item>
                  <DataList.ItemLabel>{t('organization.provider')}</DataList.ItemLabel>
                  <DataList.ItemValue>
                    {t(`organization.providers.${organization.provider ?? 'none'}`)}
                  </DataList.ItemValue>
                </DataList.Item>
              </DataList>
            </Panel>
          </>
        )}
      </Loaded>
    </Section>
  )
}

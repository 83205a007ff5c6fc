import { Fieldset, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { hiddenLabel } from '../../../shared/hidden-label.js'
import { CopyField } from '../forms/copy-field.js'
import { SecretInput } from '../forms/secret-input.js'
import { useSettings } from '../queries.js'
import type { InstanceValues } from './values.js'

/** For a business number: the organization's number, or another one with its own credentials. */
export function CredentialsFields({ form }: { form: UseFormReturnType<InstanceValues> }) {
  const { t } = useTranslation('settings')
  const { data: settings } = useSettings()
  const isOwn = form.values.is_own
  return (
    <Fieldset legend={t('instances.whose')}>
      <Stack>
        <Radio.Group
          {...hiddenLabel(t('instances.whose'))}
          value={isOwn ? 'own' : 'organization'}
          onChange={(whose) => form.setFieldValue('is_own', whose === 'own')}
        >
          <Stack gap="xs">
            <Radio
              value="organization"
              label={t('instances.organizationsNumber')}
              description={settings?.upstream?.phone_number_id ?? t('instances.noneConnected')}
            />
            <Radio value="own" label={t('instances.ownNumber')} description={t('instances.ownNumberHint')} />
          </Stack>
        </Radio.Group>
        {isOwn && (
          <>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <TextInput
                {...form.getInputProps('number')}
                label={t('number.phone_number_id')}
                description={t('number.phone_number_idHint')}
                inputMode="numeric"
                autoComplete="off"
                maxLength={20}
                required
              />
              <TextInput
                {...form.getInputProps('business_account_id')}
                label={t('number.business_account_id')}
                description={t('number.business_account_idHint')}
                inputMode="numeric"
                autoComplete="off"
                maxLength={100}
              />
            </SimpleGrid>
            <SecretInput
              {...form.getInputProps('access_token')}
              label={t('number.access_token')}
              description={t('number.access_tokenHint')}
              maxLength={2048}
              required
            />
            <SecretInput
              {...form.getInputProps('app_secret')}
              label={t('number.app_secret')}
              description={t('instances.app_secretHint')}
              maxLength={1000}
            />
            <SecretInput
              {...form.getInputProps('verify_token')}
              label={t('number.verify_token')}
              description={t('number.verify_tokenHint')}
              maxLength={256}
            />
            {settings && <CopyField label={t('number.callbackUrl')} value={settings.callback_url} />}
          </>
        )}
      </Stack>
    </Fieldset>
  )
}

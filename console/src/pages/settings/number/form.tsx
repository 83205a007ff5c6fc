import { Fieldset, NumberInput, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { notifyDone } from '../../../shared/problem.js'
import { ConnectionBar } from '../connection/connection-bar.js'
import { useConnectionTest } from '../connection/use-connection-test.js'
import { filledValues } from '../forms/filled-values.js'
import { SecretInput } from '../forms/secret-input.js'
import { useSubmit } from '../forms/use-submit.js'
import { useWarnUnsaved } from '../forms/use-warn-unsaved.js'
import { SETTINGS } from '../queries.js'
import type { Settings, Upstream } from '../types.js'

const DEFAULT_MESSAGES_PER_SECOND = 80

/** Connects the organization's number, or changes its connection. */
export function UpstreamForm({ upstream }: { upstream: Upstream | null }) {
  const { t } = useTranslation('settings')
  const form = useForm({ initialValues: initialValues(upstream) })
  const queries = useQueryClient()
  const { submit, isPending, problem } = useSubmit(
    form,
    (values) => api.put<Settings>('/settings/upstream', filledValues(values)),
    (settings) => {
      // The secrets are stored: remove them from the page.
      const next = { ...form.getValues(), access_token: '', app_secret: '', verify_token: '' }
      form.setValues(next)
      form.resetDirty(next)
      notifyDone(t('number.saved'))
      queries.setQueryData(SETTINGS, settings)
    },
  )
  const test = useConnectionTest(form, (values) => api.post('/settings/upstream/test', filledValues(values)))
  useWarnUnsaved(form.isDirty())
  const isStored = upstream !== null
  const secret = (field: 'access_token' | 'app_secret' | 'verify_token') => ({
    ...form.getInputProps(field),
    label: t(`number.${field}`),
    description: t(`number.${field}Hint`),
    isStored,
    required: !isStored,
  })
  return (
    <form onSubmit={submit}>
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            {...form.getInputProps('phone_number_id')}
            label={t('number.phone_number_id')}
            description={t('number.phone_number_idHint')}
            inputMode="numeric"
            autoComplete="off"
            maxLength={64}
            required
          />
          <TextInput
            {...form.getInputProps('business_account_id')}
            label={t('number.business_account_id')}
            description={t('number.business_account_idHint')}
            inputMode="numeric"
            autoComplete="off"
            maxLength={64}
            required
          />
        </SimpleGrid>
        <Fieldset legend={t('number.secrets')}>
          <Stack>
            <SecretInput {...secret('access_token')} maxLength={2048} />
            <SecretInput {...secret('app_secret')} maxLength={256} />
            <SecretInput {...secret('verify_token')} maxLength={256} />
          </Stack>
        </Fieldset>
        <Speed form={form} />
        <ConnectionBar
          test={test}
          isDirty={form.isDirty()}
          isPending={isPending}
          problem={problem}
          onDiscard={form.reset}
        />
      </Stack>
    </form>
  )
}

function Speed({ form }: { form: UseFormReturnType<ReturnType<typeof initialValues>> }) {
  const { t } = useTranslation('settings')
  return (
    <Fieldset legend={t('number.speed')}>
      <Stack>
        <NumberInput
          {...form.getInputProps('messages_per_second')}
          label={t('number.messages_per_second')}
          description={t('number.messages_per_secondHint')}
          min={0}
          max={10_000}
          allowDecimal={false}
          allowNegative={false}
          clampBehavior="strict"
          maw={440}
          required
        />
        <Switch
          {...form.getInputProps('pair_limit', { type: 'checkbox' })}
          label={t('number.pair_limit')}
          description={t('number.pair_limitHint')}
        />
      </Stack>
    </Fieldset>
  )
}

function initialValues(upstream: Upstream | null) {
  return {
    phone_number_id: upstream?.phone_number_id ?? '',
    business_account_id: upstream?.business_account_id ?? '',
    access_token: '',
    app_secret: '',
    verify_token: '',
    messages_per_second: upstream?.messages_per_second ?? DEFAULT_MESSAGES_PER_SECOND,
    pair_limit: upstream?.pair_limit ?? true,
  }
}

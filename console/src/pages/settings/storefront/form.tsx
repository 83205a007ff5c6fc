import { Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
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
import type { Settings } from '../types.js'

/** Connects the organization's shop, or changes its connection. */
export function StorefrontForm({ url }: { url: string | null }) {
  const { t } = useTranslation('settings')
  const form = useForm({ initialValues: { url: url ?? '', access_token: '', webhook_secret: '' } })
  const queries = useQueryClient()
  const { submit, isPending, problem } = useSubmit(
    form,
    (values) => api.put<Settings>('/settings/storefront', filledValues(values)),
    (settings) => {
      // The secrets are stored: remove them from the page.
      const next = { ...form.getValues(), access_token: '', webhook_secret: '' }
      form.setValues(next)
      form.resetDirty(next)
      notifyDone(t('storefront.saved'))
      queries.setQueryData(SETTINGS, settings)
    },
  )
  const test = useConnectionTest(form, (values) => api.post('/settings/storefront/test', filledValues(values)))
  useWarnUnsaved(form.isDirty())
  // The stored token is valid for the stored URL only.
  const keepsToken = url !== null && form.values.url.trim() === url
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          {...form.getInputProps('url')}
          label={t('storefront.url')}
          description={t('storefront.urlHint')}
          type="url"
          placeholder="https://shop.example"
          maxLength={2048}
          required
        />
        <SecretInput
          {...form.getInputProps('access_token')}
          label={t('storefront.access_token')}
          description={t(url !== null && !keepsToken ? 'storefront.access_tokenAgain' : 'storefront.access_tokenHint')}
          isStored={keepsToken}
          required={!keepsToken}
          maxLength={2048}
        />
        <SecretInput
          {...form.getInputProps('webhook_secret')}
          label={t('storefront.webhook_secret')}
          description={t('storefront.webhook_secretHint')}
          isStored={url !== null}
          required={url === null}
          maxLength={256}
        />
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

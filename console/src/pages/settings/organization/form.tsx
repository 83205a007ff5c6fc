import { NumberInput, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { type FocusEvent, type MouseEvent, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import type { Organization } from '../../../api/types.js'
import { SESSION } from '../../../session/session.js'
import { notifyDone } from '../../../shared/problem.js'
import { SaveBar } from '../forms/save-bar.js'
import { useSubmit } from '../forms/use-submit.js'
import { useWarnUnsaved } from '../forms/use-warn-unsaved.js'
import { SETTINGS } from '../queries.js'
import type { Settings } from '../types.js'
import { countryChoices, currencyChoices, languageChoices, timezoneChoices } from './choices.js'

/** Changes the organization's settings. */
export function OrganizationForm({ organization }: { organization: Organization }) {
  const { t, i18n } = useTranslation('settings')
  const { name, default_country, timezone, currency, language, attribution_window_days } = organization
  const form = useForm({
    initialValues: {
      name,
      default_country: String(default_country),
      timezone,
      currency,
      language,
      attribution_window_days,
    },
  })
  const queries = useQueryClient()
  const { submit, isPending, problem } = useSubmit(
    form,
    (values) => api.patch<Settings>('/settings/organization', values),
    (settings) => {
      form.resetDirty()
      notifyDone(t('saved', { ns: 'common' }))
      queries.setQueryData(SETTINGS, settings)
      return queries.invalidateQueries({ queryKey: SESSION })
    },
  )
  useWarnUnsaved(form.isDirty())
  const choices = useMemo(
    () => ({
      default_country: countryChoices(i18n.language, default_country),
      timezone: timezoneChoices(i18n.language, timezone),
      currency: currencyChoices(i18n.language, currency),
      language: languageChoices(i18n.language, language),
    }),
    [i18n.language, default_country, timezone, currency, language],
  )
  const select = (field: keyof typeof choices) => ({
    ...form.getInputProps(field),
    data: choices[field],
    label: t(`organization.${field}`),
    searchable: true,
    allowDeselect: false,
    // Typing replaces the selected text instead of appending to it.
    onClick: (event: MouseEvent<HTMLInputElement>) => event.currentTarget.select(),
    onFocus: (event: FocusEvent<HTMLInputElement>) => event.currentTarget.select(),
    selectFirstOptionOnChange: true,
    nothingFoundMessage: t('nothingFound'),
    required: true,
  })
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          {...form.getInputProps('name')}
          label={t('organization.name')}
          maxLength={200}
          autoComplete="organization"
          required
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Select {...select('default_country')} description={t('organization.default_countryHint')} />
          <Select
            {...select('timezone')}
            description={t('organization.timezoneHint', {
              time: timeIn(form.values.timezone, i18n.language === 'pt' ? 'pt-BR' : 'en-GB'),
            })}
          />
          <Select {...select('currency')} description={t('organization.currencyHint')} />
          <NumberInput
            {...form.getInputProps('attribution_window_days')}
            label={t('organization.attribution_window_days')}
            description={t('organization.attribution_window_daysHint')}
            min={1}
            max={90}
            allowDecimal={false}
            required
          />
          <Select {...select('language')} description={t('organization.languageHint')} />
        </SimpleGrid>
        <SaveBar isDirty={form.isDirty()} isPending={isPending} problem={problem} onDiscard={form.reset} />
      </Stack>
    </form>
  )
}

function timeIn(timeZone: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' }).format()
}

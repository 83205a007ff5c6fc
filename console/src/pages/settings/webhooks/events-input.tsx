import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { AllOrChosen } from '../forms/all-or-chosen.js'
import { EVERY_KIND, KIND_GROUPS, kindsOf, kindText } from './kinds.js'

interface EventsInputProps {
  value: string[]
  onChange: (events: string[]) => void
  error: ReactNode
}

/** Selects the events of a webhook: all, or selected ones. */
export function EventsInput({ value, onChange, error }: EventsInputProps) {
  const { t } = useTranslation('settings')
  return (
    <AllOrChosen
      label={t('webhooks.events')}
      error={error}
      all={{ label: t('webhooks.allEvents'), description: t('webhooks.allEventsHint') }}
      chosen={{ label: t('webhooks.chosenEvents') }}
      isAll={value.includes(EVERY_KIND)}
      onAll={(isAll) => onChange(isAll ? [EVERY_KIND] : [])}
      groups={KIND_GROUPS.map((group) => ({
        legend: t(`webhooks.groups.${group}`),
        options: kindsOf(group).map((kind) => ({ value: kind, description: t(`webhooks.kinds.${kindText(kind)}`) })),
      }))}
      value={value}
      onChange={onChange}
    />
  )
}

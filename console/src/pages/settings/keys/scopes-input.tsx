import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { AllOrChosen } from '../forms/all-or-chosen.js'
import type { Scope } from '../types.js'
import { SCOPE_GROUPS, SCOPES, scopesOf, scopeText } from './scopes.js'

interface ScopesInputProps {
  value: Scope[]
  onChange: (scopes: Scope[]) => void
  error: ReactNode
}

/** Selects the scopes of a key: all, or selected ones. */
export function ScopesInput({ value, onChange, error }: ScopesInputProps) {
  const { t } = useTranslation('settings')
  return (
    <AllOrChosen
      label={t('keys.scopes')}
      error={error}
      all={{ label: t('keys.allScopes'), description: t('keys.allScopesHint') }}
      chosen={{ label: t('keys.chosenScopes'), description: t('keys.chosenScopesHint') }}
      isAll={value.length === SCOPES.length}
      onAll={(isAll) => onChange(isAll ? [...SCOPES] : [])}
      groups={SCOPE_GROUPS.map((group) => ({
        legend: t(`keys.groups.${group}`),
        options: scopesOf(group).map((scope) => ({
          value: scope,
          description: t(`keys.scopeHints.${scopeText(scope)}`),
        })),
      }))}
      value={value}
      onChange={(scopes) => onChange(SCOPES.filter((scope) => scopes.includes(scope)))}
    />
  )
}

import { Checkbox, Fieldset, Input, Radio, SimpleGrid, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { hiddenLabel } from '../../../shared/hidden-label.js'
import type { Scope } from '../types.js'
import { SCOPE_GROUPS, SCOPES, scopesOf, scopeText } from './scopes.js'

interface ScopesInputProps {
  value: Scope[]
  onChange: (scopes: Scope[]) => void
  error: ReactNode
}

/** Chooses what a key may do: everything, or the scopes that are ticked. */
export function ScopesInput({ value, onChange, error }: ScopesInputProps) {
  const { t } = useTranslation('settings')
  const isAll = value.length === SCOPES.length
  return (
    <Input.Wrapper label={t('keys.scopes')} error={error} labelElement="div">
      <Stack gap="sm" mt={4}>
        <Radio.Group
          {...hiddenLabel(t('keys.scopes'))}
          value={isAll ? 'all' : 'chosen'}
          onChange={(kind) => onChange(kind === 'all' ? [...SCOPES] : [])}
        >
          <Stack gap="xs">
            <Radio value="all" label={t('keys.allScopes')} description={t('keys.allScopesHint')} />
            <Radio value="chosen" label={t('keys.chosenScopes')} description={t('keys.chosenScopesHint')} />
          </Stack>
        </Radio.Group>
        {!isAll && (
          <Checkbox.Group
            {...hiddenLabel(t('keys.scopes'))}
            value={value}
            onChange={(scopes) => onChange(SCOPES.filter((scope) => scopes.includes(scope)))}
          >
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
              {SCOPE_GROUPS.map((group) => (
                <Fieldset key={group} legend={t(`keys.groups.${group}`)} p="sm">
                  <Stack gap="sm">
                    {scopesOf(group).map((scope) => (
                      <Checkbox
                        key={scope}
                        value={scope}
                        label={scope}
                        description={t(`keys.scopeHints.${scopeText(scope)}`)}
                      />
                    ))}
                  </Stack>
                </Fieldset>
              ))}
            </SimpleGrid>
          </Checkbox.Group>
        )}
      </Stack>
    </Input.Wrapper>
  )
}

import { Checkbox, Fieldset, Input, Radio, SimpleGrid, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { hiddenLabel } from '../../../shared/hidden-label.js'
import { EVERY_KIND, KIND_GROUPS, kindsOf, kindText } from './kinds.js'

interface EventsInputProps {
  value: string[]
  onChange: (events: string[]) => void
  error: ReactNode
}

/** Chooses the kinds of events that a webhook takes: all, or those that are ticked. */
export function EventsInput({ value, onChange, error }: EventsInputProps) {
  const { t } = useTranslation('settings')
  const isAll = value.includes(EVERY_KIND)
  return (
    <Input.Wrapper label={t('webhooks.events')} error={error} labelElement="div">
      <Stack gap="sm" mt={4}>
        <Radio.Group
          {...hiddenLabel(t('webhooks.events'))}
          value={isAll ? 'all' : 'chosen'}
          onChange={(kind) => onChange(kind === 'all' ? [EVERY_KIND] : [])}
        >
          <Stack gap="xs">
            <Radio value="all" label={t('webhooks.allEvents')} description={t('webhooks.allEventsHint')} />
            <Radio value="chosen" label={t('webhooks.chosenEvents')} />
          </Stack>
        </Radio.Group>
        {!isAll && (
          <Checkbox.Group {...hiddenLabel(t('webhooks.events'))} value={value} onChange={onChange}>
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
              {KIND_GROUPS.map((group) => (
                <Fieldset key={group} legend={t(`webhooks.groups.${group}`)} p="sm">
                  <Stack gap="sm">
                    {kindsOf(group).map((kind) => (
                      <Checkbox
                        key={kind}
                        value={kind}
                        label={kind}
                        description={t(`webhooks.kinds.${kindText(kind)}`)}
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

import { Button, Group, Radio, Select, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { SecretInput } from '../../forms/secret-input.js'
import type { ConnectionStep } from '../../types.js'

/** The fields that a step can ask for. */
export const CHOICE_FIELDS = ['app_secret', 'phone_number_id', 'business_account_id', 'pin', 'callbacks'] as const
export type ChoiceField = (typeof CHOICE_FIELDS)[number]

const WAYS = ['app', 'account', 'number', 'none'] as const

interface ChoiceProps {
  field: ChoiceField
  choices: ConnectionStep['choices']
  isPending: boolean
  onChosen: (value: string) => void
}

/** Asks for the value that a step needs. */
export function Choice({ field, choices = [], isPending, onChosen }: ChoiceProps) {
  const { t } = useTranslation('settings')
  const [value, setValue] = useState('')
  const label = t(`number.connect.fields.${field}`)
  const input = {
    label,
    value,
    onChange: (event: { currentTarget: { value: string } }) => setValue(event.currentTarget.value),
  }
  return (
    <Stack
      component="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (value.trim() !== '') onChosen(value.trim())
      }}
    >
      {field === 'callbacks' ? (
        <Radio.Group label={label} value={value} onChange={setValue}>
          <Stack gap="xs" mt="xs">
            {WAYS.map((way) => (
              <Radio key={way} value={way} label={t(`number.connect.ways.${way}`)} />
            ))}
          </Stack>
        </Radio.Group>
      ) : choices.length > 0 ? (
        <Select
          label={label}
          data={choices}
          value={value === '' ? null : value}
          onChange={(next) => setValue(next ?? '')}
          searchable
        />
      ) : field === 'app_secret' ? (
        <SecretInput {...input} maxLength={256} />
      ) : (
        <TextInput {...input} inputMode="numeric" autoComplete="off" maxLength={field === 'pin' ? 6 : 64} />
      )}
      <Group>
        <Button type="submit" loading={isPending} disabled={value.trim() === ''}>
          {t('number.connect.next')}
        </Button>
      </Group>
    </Stack>
  )
}

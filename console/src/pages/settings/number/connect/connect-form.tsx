import { Alert, Button, Checkbox, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { SecretInput } from '../../forms/secret-input.js'
import { type ConnectValues, choicesOf, withoutChoices, withSecret } from './choices.js'

interface ConnectFormProps {
  form: UseFormReturnType<ConnectValues>
  /** Whether a number is connected. */
  isStored: boolean
  isPending: boolean
  problem: string | null
  onSubmit: (event?: FormEvent<HTMLFormElement>) => void
}

/** The secrets of a number, and what was chosen for it so far. */
export function ConnectForm({ form, isStored, isPending, problem, onSubmit }: ConnectFormProps) {
  const { t } = useTranslation('settings')
  const secretProps = (name: 'access_token' | 'app_secret') => ({
    ...form.getInputProps(name),
    onChange: (event: { currentTarget: { value: string } }) =>
      form.setValues(withSecret(form.getValues(), name, event.currentTarget.value)),
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <SecretInput
            {...secretProps('access_token')}
            label={t('number.access_token')}
            isStored={isStored}
            required={!isStored}
            maxLength={2048}
          />
          <SecretInput
            {...secretProps('app_secret')}
            label={t('number.app_secret')}
            isStored={isStored}
            maxLength={256}
          />
        </SimpleGrid>
        <TextInput
          {...form.getInputProps('send_to')}
          label={t('number.connect.send_to')}
          description={t('number.connect.send_toHint')}
          type="tel"
          autoComplete="off"
          maxLength={150}
          maw={440}
        />
        {isStored && (
          <Checkbox
            {...form.getInputProps('further', { type: 'checkbox' })}
            label={t('number.connect.further')}
            description={t('number.connect.furtherHint')}
          />
        )}
        {problem && (
          <Alert color="red" role="alert">
            {problem}
          </Alert>
        )}
        <Chosen form={form} />
        <Group>
          <Button type="submit" loading={isPending}>
            {t(isStored ? 'number.connect.again' : 'number.connect.run')}
          </Button>
          <Text size="sm" c="dimmed">
            {t('number.connect.guide')}
          </Text>
        </Group>
      </Stack>
    </form>
  )
}

/** What the next attempt sends of earlier choices; it can be forgotten. */
function Chosen({ form }: Pick<ConnectFormProps, 'form'>) {
  const { t } = useTranslation('settings')
  const chosen = choicesOf(form.values)
  if (chosen.length === 0) return null
  return (
    <Group>
      <Text size="sm">
        {chosen.map(({ field, value }) => `${t(`number.connect.fields.${field}`)}: ${value}`).join('; ')}
      </Text>
      <Button variant="subtle" onClick={() => form.setValues(withoutChoices(form.getValues()))}>
        {t('number.connect.forget')}
      </Button>
    </Group>
  )
}

import { Alert, Box, Button, Checkbox, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../../api/client.js'
import { filledValues } from '../../forms/filled-values.js'
import { SecretInput } from '../../forms/secret-input.js'
import { useSubmit } from '../../forms/use-submit.js'
import { Panel } from '../../frame/panel.js'
import { NUMBER_HEALTH, SETTINGS } from '../../queries.js'
import type { Connection, Upstream } from '../../types.js'
import { CHOICE_FIELDS, Choice, type ChoiceField } from './choice.js'
import { askingStep, choicesOf, NO_VALUES, withoutChoices, withSecret } from './choices.js'
import { Steps } from './steps.js'

/** Connects the number with an access token, and asks for what cannot be found. */
export function ConnectPanel({ upstream }: { upstream: Upstream | null }) {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const form = useForm({ initialValues: NO_VALUES })
  const [connection, setConnection] = useState<Connection | null>(null)
  const { submit, isPending, problem } = useSubmit(
    form,
    ({ further, ...values }) =>
      api.post<Connection>('/settings/upstream/connect', { ...filledValues(values), ...(further && { further }) }),
    (answer) => {
      setConnection(answer)
      // What is stored need not stay in the page; a PIN is tried once.
      if (answer.connected) form.setValues(NO_VALUES)
      else form.setFieldValue('pin', '')
      if (answer.upstream === null) return
      void queries.invalidateQueries({ queryKey: SETTINGS })
      void queries.invalidateQueries({ queryKey: NUMBER_HEALTH })
    },
  )
  const open = connection ? askingStep(connection.steps) : undefined
  const field = CHOICE_FIELDS.find((one) => one === open?.field)
  const choose = (chosen: ChoiceField) => (value: string) => {
    form.setFieldValue(chosen, value)
    submit()
  }
  const secretProps = (name: 'access_token' | 'app_secret') => ({
    ...form.getInputProps(name),
    onChange: (event: { currentTarget: { value: string } }) =>
      form.setValues(withSecret(form.getValues(), name, event.currentTarget.value)),
  })
  const chosen = choicesOf(form.values)
  const isStored = upstream !== null
  return (
    <Panel title={t('number.connect.title')} hint={t('number.connect.hint')}>
      <form onSubmit={submit}>
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
          {chosen.length > 0 && (
            <Group>
              <Text size="sm">
                {chosen.map(({ field, value }) => `${t(`number.connect.fields.${field}`)}: ${value}`).join('; ')}
              </Text>
              <Button variant="subtle" onClick={() => form.setValues(withoutChoices(form.getValues()))}>
                {t('number.connect.forget')}
              </Button>
            </Group>
          )}
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
      <Box aria-live="polite">
        {connection && (
          <Stack>
            <Alert
              color={connection.connected ? 'teal' : 'orange'}
              variant="outline"
              title={t(connection.connected ? 'number.connect.done' : 'number.connect.open')}
            >
              <Steps steps={connection.steps} />
            </Alert>
            {field && (
              <Choice
                key={field}
                field={field}
                choices={open?.choices}
                isPending={isPending}
                onChosen={choose(field)}
              />
            )}
          </Stack>
        )}
      </Box>
    </Panel>
  )
}

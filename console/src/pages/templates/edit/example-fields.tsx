import { Text, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Section } from '../../broadcasts/compose/section.js'
import { type Change, type Draft, type ErrorAt, variablesOf } from './draft.js'

const MAX_TYPED = 500

interface ExampleFieldsProps {
  draft: Draft
  change: Change
  /** The path of the body. */
  path: string
  errorAt: ErrorAt
}

/** An example for each variable of the body. */
export function ExampleFields({ draft: { body, bodyExamples }, change, path, errorAt }: ExampleFieldsProps) {
  const { t } = useTranslation('templates')
  const names = variablesOf(body)
  if (names.length === 0) return null
  const error = errorAt(`${path}.example`)
  const missing = names.find((name) => !bodyExamples[name])
  return (
    <Section title={t('form.examples')}>
      <Text size="sm" c="dimmed">
        {t('form.examplesHint')}
      </Text>
      {names.map((name) => (
        <TextInput
          key={name}
          label={`{{${name}}}`}
          value={bodyExamples[name] ?? ''}
          onChange={(event) => change({ bodyExamples: { ...bodyExamples, [name]: event.currentTarget.value } })}
          error={name === missing ? error : undefined}
          maxLength={MAX_TYPED}
          withAsterisk
        />
      ))}
    </Section>
  )
}

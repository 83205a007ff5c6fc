import { Code, Group, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { HeaderFile } from '../../../../shared/templates/header-file.js'
import type { HeaderMedia } from '../../../../shared/templates/header-media.js'
import { fileKindOf, LOCATION_VARIABLES, type TemplateForm } from '../../../../shared/templates/template-form.js'
import { PLACEHOLDERS, type TemplateValues } from '../../../../shared/templates/template-preview.js'
import classes from '../composer.module.css'
import { isLink } from './is-link.js'

type Part = 'header' | 'body' | 'buttons'

interface Field {
  part: Part
  name: string
  label: string
}

/** The most characters of ids: 30 products, or one. */
const MAX_IDS = 3_000
const MAX_ID = 100

/** A field for each variable and part of a template. */
export function TemplateFields({
  form,
  values,
  onChange,
}: {
  form: TemplateForm
  values: TemplateValues
  onChange: (values: TemplateValues) => void
}) {
  const { t } = useTranslation('thread')
  const fields = fieldsOf(form, t)
  const fileKind = fileKindOf(form)
  const set = ({ part, name }: Field, value: string) =>
    onChange({ ...values, [part]: { ...values[part], [name]: value } })
  const { parts = {} } = values
  if (fields.length === 0 && fileKind === null && form.parts.fields.length === 0)
    return <Text size="sm">{t('nothingToFill')}</Text>
  return (
    <>
      {fileKind !== null && (
        <HeaderFile
          kind={fileKind}
          label={t('headerMedia', { kind: t(`kinds.${fileKind}`).toLocaleLowerCase() })}
          description={t('headerMediaHint')}
          value={headerMediaOf(values)}
          onChange={(media) => onChange({ ...values, ...media })}
        />
      )}
      {fields.map((field, index) => (
        <TextInput
          key={`${field.part} ${field.name}`}
          data-autofocus={index === 0 || undefined}
          label={field.label}
          maxLength={1_024}
          required
          value={values[field.part][field.name] ?? ''}
          onChange={({ currentTarget }) => set(field, currentTarget.value)}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          description={
            <Placeholders
              onChoose={(placeholder) => set(field, `${values[field.part][field.name] ?? ''}${placeholder}`)}
            />
          }
          descriptionProps={{ component: 'div' }}
        />
      ))}
      {form.parts.fields.map(({ name, isNeeded }) => (
        <TextInput
          key={name}
          label={t(`parts.${name}`)}
          {...(name === 'offerEndsAt'
            ? { type: 'datetime-local', min: localNow() }
            : { maxLength: name === 'productIds' ? MAX_IDS : MAX_ID })}
          required={isNeeded}
          value={parts[name] ?? ''}
          onChange={({ currentTarget }) => onChange({ ...values, parts: { ...parts, [name]: currentTarget.value } })}
        />
      ))}
    </>
  )
}

/** The viewer's time, as fields for times write it. */
function localNow(): string {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Buttons that insert placeholders for contact details. */
function Placeholders({ onChoose }: { onChoose: (placeholder: string) => void }) {
  const { t } = useTranslation('thread')
  return (
    <Group gap={4} mt={4} role="group" aria-label={t('placeholders')}>
      {PLACEHOLDERS.slice(0, 3).map((name) => (
        <UnstyledButton key={name} className={classes.placeholder} onClick={() => onChoose(`{{${name}}}`)}>
          <Code>{`{{${name}}}`}</Code>
        </UnstyledButton>
      ))}
    </Group>
  )
}

/** The file above the text, as it was given so far. */
export function headerMediaOf({ headerMedia = '', headerMediaId = null }: TemplateValues): HeaderMedia {
  return { headerMedia, headerMediaId }
}

/** Whether all variables and needed parts have a value. */
export function isFilled(form: TemplateForm, values: TemplateValues): boolean {
  const hasAll = fieldsOf(form).every(({ part, name }) => (values[part][name] ?? '').trim() !== '')
  const hasParts = form.parts.fields.every(
    ({ name, isNeeded }) => !isNeeded || (values.parts?.[name] ?? '').trim() !== '',
  )
  const { headerMedia, headerMediaId } = headerMediaOf(values)
  const hasFile = headerMediaId !== null || isLink(headerMedia.trim())
  return hasAll && hasParts && (fileKindOf(form) === null || hasFile)
}

type Translate = ReturnType<typeof useTranslation<'thread'>>['t']

function fieldsOf({ header, body, buttons }: TemplateForm, t?: Translate): Field[] {
  const inHeader = header?.kind === 'text' ? header.variables : header?.kind === 'location' ? LOCATION_VARIABLES : []
  return [
    ...inHeader.map((name) => ({ part: 'header' as const, name, label: t?.('headerField', { name }) ?? name })),
    ...body.variables.map((name) => ({ part: 'body' as const, name, label: t?.('bodyField', { name }) ?? name })),
    ...buttons.flatMap(({ parameter, text }) =>
      parameter === null
        ? []
        : [{ part: 'buttons' as const, name: parameter, label: t?.('buttonField', { name: text }) ?? parameter }],
    ),
  ]
}

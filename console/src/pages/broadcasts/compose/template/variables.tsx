import { Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import type { ReadList } from '../../../../../../src/model/broadcasts/read-list.js'
import { HeaderFile } from '../../../../shared/templates/header-file.js'
import { fileKindOf, type TemplateForm } from '../../../../shared/templates/template-form.js'
import { type Draft, hasColumn } from '../draft.js'
import { ShortLinkForm } from './short-link-form.js'
import { VariableField } from './variable-field.js'

interface VariablesProps {
  form: UseFormReturnType<Draft>
  template: TemplateForm
  list: ReadList
}

type Part = 'body' | 'header' | 'buttons'

/** A field for each variable of the template. */
export function Variables({ form, template, list }: VariablesProps) {
  const { t } = useTranslation('broadcasts')
  const { values } = form
  const fileKind = fileKindOf(template)
  const buttons = new Map(template.buttons.map((button) => [button.parameter, button]))
  const setValue = (part: Part, name: string, value: string) => {
    form.setFieldValue(part, { ...values[part], [name]: value })
    form.clearFieldError(`${part}.${name}`)
  }
  const field = (part: Part, name: string, label: string, description?: string) => {
    const path = `${part}.${name}`
    const isOwn = hasColumn(values, list, part, name)
    return (
      <VariableField
        key={path}
        path={path}
        label={label}
        description={isOwn ? t('compose.ownColumn') : description}
        isRequired={!isOwn}
        value={values[part][name] ?? ''}
        error={form.errors[path]}
        onChange={(value) => setValue(part, name, value)}
      />
    )
  }
  const isEmpty = [values.body, values.header, values.buttons].every((part) => Object.keys(part).length === 0)
  if (isEmpty && fileKind === null) {
    return (
      <Text size="sm" c="dimmed">
        {t('compose.noVariables')}
      </Text>
    )
  }
  return (
    <Stack>
      {fileKind !== null && (
        <HeaderFile
          key={values.template}
          kind={fileKind}
          label={t(`compose.file.${fileKind}`)}
          description={t(`compose.fileHint.${fileKind}`)}
          value={values}
          onChange={({ headerMedia, headerMediaId }) => {
            form.setValues({ headerMedia, headerMediaId })
            form.clearFieldError('headerMedia')
          }}
          error={form.errors.headerMedia}
        />
      )}
      {Object.keys(values.header).map((name) => field('header', name, t('compose.ofHeader', { name })))}
      {Object.keys(values.body).map((name) => field('body', name, t('compose.ofBody', { name })))}
      {Object.keys(values.buttons).map((name) => {
        const button = buttons.get(name)
        const url = button?.url ?? undefined
        return (
          <Stack key={name} gap={6}>
            {field('buttons', name, t('compose.ofButton', { name: button?.text ?? name }), url)}
            {url !== undefined && (
              <ShortLinkForm name={values.name} buttonUrl={url} onMade={(code) => setValue('buttons', name, code)} />
            )}
          </Stack>
        )
      })}
    </Stack>
  )
}

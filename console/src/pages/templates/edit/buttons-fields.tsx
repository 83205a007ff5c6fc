import { ActionIcon, Button, Divider, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Section } from '../../broadcasts/compose/section.js'
import {
  BUTTON_KINDS,
  type ButtonKind,
  type Change,
  type Draft,
  type DraftButton,
  type ErrorAt,
  variablesOf,
} from './draft.js'

const MAX_BUTTONS = 10
const MAX_TYPED = 2_500

interface ButtonsFieldsProps {
  draft: Draft
  change: Change
  /** The path of the list of buttons; null: there is none. */
  path: string | null
  errorAt: ErrorAt
}

/** The buttons, in the order in which people see them. */
export function ButtonsFields({ draft: { buttons }, change, path, errorAt }: ButtonsFieldsProps) {
  const { t } = useTranslation('templates')
  const put = (key: number, fields: Partial<DraftButton>) =>
    change({ buttons: buttons.map((button) => (button.key === key ? { ...button, ...fields } : button)) })
  const key = Math.max(-1, ...buttons.map((button) => button.key)) + 1
  // Faults of the list itself; those of one button stand there.
  const error = buttons.some((_, index) => errorAt(`${path}[${index}]`)) ? undefined : errorAt(path)
  return (
    <Section title={t('form.buttons')}>
      {buttons.map((button, index) => (
        <Stack key={button.key} gap="xs">
          {index > 0 && <Divider />}
          <Group justify="space-between">
            <Text fw={500} size="sm">
              {t('form.button', { number: index + 1 })}
            </Text>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('form.removeButton', { number: index + 1 })}
              onClick={() => change({ buttons: buttons.filter((one) => one !== button) })}
            >
              <IconTrash aria-hidden size={18} />
            </ActionIcon>
          </Group>
          <ButtonFields
            button={button}
            onChange={(fields) => put(button.key, fields)}
            errorAt={(field) => errorAt(path === null ? null : `${path}[${index}].${field}`)}
          />
        </Stack>
      ))}
      {error !== undefined && (
        <Text size="sm" c="red" role="alert">
          {error}
        </Text>
      )}
      {buttons.length < MAX_BUTTONS && (
        <Group>
          <Button
            variant="default"
            leftSection={<IconPlus aria-hidden size={16} />}
            onClick={() =>
              change({ buttons: [...buttons, { key, kind: 'QUICK_REPLY', text: '', value: '', example: '' }] })
            }
          >
            {t('form.addButton')}
          </Button>
        </Group>
      )}
    </Section>
  )
}

interface ButtonFieldsProps {
  button: DraftButton
  onChange: (fields: Partial<DraftButton>) => void
  errorAt: (field: string) => string | undefined
}

function ButtonFields({ button: { kind, text, value, example }, onChange, errorAt }: ButtonFieldsProps) {
  const { t } = useTranslation('templates')
  return (
    <>
      <Select
        label={t('form.kind')}
        data={BUTTON_KINDS.map((one) => ({ value: one, label: t(`form.kinds.${one}`) }))}
        value={kind}
        onChange={(chosen) => onChange({ kind: (chosen ?? kind) as ButtonKind, value: '', example: '' })}
        error={errorAt('type')}
        allowDeselect={false}
      />
      {kind !== 'COPY_CODE' && (
        <TextInput
          label={t('form.buttonText')}
          value={text}
          onChange={(event) => onChange({ text: event.currentTarget.value })}
          error={errorAt('text')}
          maxLength={MAX_TYPED}
          withAsterisk
        />
      )}
      {kind === 'URL' && (
        <TextInput
          label={t('form.url')}
          description={t('form.urlHint', { variable: '{{1}}' })}
          placeholder="https://example.com/{{1}}"
          value={value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
          error={errorAt('url')}
          maxLength={MAX_TYPED}
          withAsterisk
        />
      )}
      {kind === 'URL' && variablesOf(value).length > 0 && (
        <TextInput
          label={t('form.urlExample')}
          value={example}
          onChange={(event) => onChange({ example: event.currentTarget.value })}
          error={errorAt('example')}
          maxLength={MAX_TYPED}
          withAsterisk
        />
      )}
      {kind === 'PHONE_NUMBER' && (
        <TextInput
          label={t('form.phone')}
          placeholder="+5511900001234"
          value={value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
          error={errorAt('phone_number')}
          maxLength={MAX_TYPED}
          withAsterisk
        />
      )}
      {kind === 'COPY_CODE' && (
        <TextInput
          label={t('form.code')}
          value={value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
          error={errorAt('example')}
          maxLength={MAX_TYPED}
          withAsterisk
        />
      )}
    </>
  )
}

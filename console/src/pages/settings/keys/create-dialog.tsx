import { Modal, Select, Stack, TextInput } from '@mantine/core'
import { DatePickerInput } from '@mantine/dates'
import { useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { DialogButtons } from '../dialogs/dialog-buttons.js'
import { useDateStyle } from '../forms/date-style.js'
import { useSubmit } from '../forms/use-submit.js'
import type { Scope } from '../types.js'
import { SCOPES } from './scopes.js'
import { ScopesInput } from './scopes-input.js'

const DAY_MS = 86_400_000
/** In days. `date`: until a chosen day. */
const LIFETIMES = { never: null, month: 30, quarter: 90, year: 365, date: null }
type Lifetime = keyof typeof LIFETIMES

interface KeyValues {
  name: string
  scopes: Scope[]
  expires_at: Lifetime
  /** YYYY-MM-DD: the last day on which the key works. */
  day: string | null
}

interface CreateKeyProps {
  onClose: () => void
  /** Called with the text of the new key. */
  onIssued: (key: string) => void
}

/** Creates a key. */
export default function CreateKeyDialog(props: CreateKeyProps) {
  const { t } = useTranslation('settings')
  const dates = useDateStyle()
  return (
    <Modal opened onClose={props.onClose} title={t('keys.create')} size="lg" closeOnEscape={!dates.isPicking}>
      <CreateKeyForm {...props} dates={dates} />
    </Modal>
  )
}

function CreateKeyForm({ onClose, onIssued, dates }: CreateKeyProps & { dates: ReturnType<typeof useDateStyle> }) {
  const { t } = useTranslation('settings')
  const { style, format } = dates
  const form = useForm<KeyValues>({
    initialValues: { name: '', scopes: [...SCOPES], expires_at: 'never', day: null },
    validate: {
      scopes: (scopes) => (scopes.length === 0 ? t('keys.noScope') : null),
      day: (day, { expires_at }) => (expires_at === 'date' && day === null ? t('keys.noDay') : null),
    },
  })
  const { submit, isPending, problem } = useSubmit(
    form,
    (values) =>
      api.post<{ api_key: { key: string } }>('/keys', {
        name: values.name.trim(),
        scopes: values.scopes,
        expires_at: expiryOf(values),
      }),
    ({ api_key }) => {
      onClose()
      onIssued(api_key.key)
    },
  )
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          {...form.getInputProps('name')}
          label={t('keys.name')}
          description={t('keys.nameHint')}
          maxLength={200}
          autoComplete="off"
          required
          data-autofocus
        />
        <ScopesInput
          value={form.values.scopes}
          onChange={(scopes) => form.setFieldValue('scopes', scopes)}
          error={form.errors.scopes}
        />
        <Select
          {...form.getInputProps('expires_at')}
          label={t('keys.expires')}
          data={(Object.keys(LIFETIMES) as Lifetime[]).map((value) => ({ value, label: t(`keys.lifetimes.${value}`) }))}
          allowDeselect={false}
        />
        {form.values.expires_at === 'date' && (
          <DatePickerInput
            {...form.getInputProps('day')}
            {...style}
            valueFormat={format}
            label={t('keys.lastDay')}
            placeholder={t('keys.chooseDay')}
            minDate={new Date()}
            required
          />
        )}
        <DialogButtons action={t('keys.create')} isPending={isPending} problem={problem} onClose={onClose} />
      </Stack>
    </form>
  )
}

function expiryOf({ expires_at, day }: KeyValues): string | null {
  if (expires_at === 'date') return day && new Date(`${day}T23:59:59`).toISOString()
  const days = LIFETIMES[expires_at]
  return days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString()
}

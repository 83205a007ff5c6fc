import { Modal, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { DialogButtons } from '../dialogs/dialog-buttons.js'
import { useSubmit } from '../forms/use-submit.js'
import type { ApiKey } from '../types.js'

const HOUR = 3_600
const OVERLAPS = { none: 0, hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR, month: 30 * 24 * HOUR }
type Overlap = keyof typeof OVERLAPS

interface RotateKeyDialogProps {
  apiKey: ApiKey | null
  onClose: () => void
  /** Called with the text of the new key. */
  onIssued: (key: string) => void
}

/** Replaces a key by a new one with the same scopes. */
export function RotateKeyDialog({ opened, apiKey, ...rest }: RotateKeyDialogProps & { opened: boolean }) {
  const { t } = useTranslation('settings')
  return (
    <Modal opened={opened} onClose={rest.onClose} title={t('keys.rotateTitle', { name: apiKey?.name })}>
      {apiKey && <RotateForm apiKey={apiKey} {...rest} />}
    </Modal>
  )
}

function RotateForm({ apiKey, onClose, onIssued }: RotateKeyDialogProps & { apiKey: ApiKey }) {
  const { t } = useTranslation('settings')
  const form = useForm<{ overlap_seconds: Overlap }>({ initialValues: { overlap_seconds: 'day' } })
  const { submit, isPending, problem } = useSubmit(
    form,
    ({ overlap_seconds: overlap }) =>
      api.post<{ api_key: { key: string } }>(`/keys/${apiKey.id}/rotate`, { overlap_seconds: OVERLAPS[overlap] }),
    ({ api_key }) => {
      onClose()
      onIssued(api_key.key)
    },
  )
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">{t('keys.rotateHint')}</Text>
        <Select
          {...form.getInputProps('overlap_seconds')}
          label={t('keys.overlap')}
          data={(Object.keys(OVERLAPS) as Overlap[]).map((value) => ({ value, label: t(`keys.overlaps.${value}`) }))}
          allowDeselect={false}
          data-autofocus
        />
        <DialogButtons action={t('keys.rotate')} isPending={isPending} problem={problem} onClose={onClose} />
      </Stack>
    </form>
  )
}

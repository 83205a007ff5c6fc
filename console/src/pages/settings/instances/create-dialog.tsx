import { Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { useSession } from '../../../session/session.js'
import { DialogButtons } from '../dialogs/dialog-buttons.js'
import { filledValues } from '../forms/filled-values.js'
import { useSubmit } from '../forms/use-submit.js'
import type { Instance } from '../types.js'
import { CredentialsFields } from './credentials-fields.js'
import { KindInput } from './kind-input.js'
import type { InstanceValues } from './values.js'

interface CreateInstanceProps {
  onClose: () => void
  onCreated: (instance: Instance) => void
}

// The gateway's errors name fields as its own API does.
const GATEWAY_NAMES = { instanceName: 'name', accessToken: 'access_token', 'access token': 'access_token' }

/** Creates an instance. */
export function CreateInstanceDialog({ opened, ...rest }: CreateInstanceProps & { opened: boolean }) {
  const { t } = useTranslation('settings')
  return (
    <Modal opened={opened} onClose={rest.onClose} title={t('instances.create')} size="lg">
      <CreateInstanceForm {...rest} />
    </Modal>
  )
}

function CreateInstanceForm({ onClose, onCreated }: CreateInstanceProps) {
  const { t } = useTranslation('settings')
  const { simulator } = useSession()
  const form = useForm<InstanceValues>({
    initialValues: {
      name: '',
      kind: simulator ? 'sandbox' : 'linked_device',
      is_own: false,
      number: '',
      business_account_id: '',
      access_token: '',
      app_secret: '',
      verify_token: '',
    },
  })
  const { submit, isPending, problem } = useSubmit(
    form,
    (values) => api.post<{ instance: Instance }>('/instances', bodyOf(values)),
    ({ instance }) => {
      onClose()
      onCreated(instance)
    },
    GATEWAY_NAMES,
  )
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          {...form.getInputProps('name')}
          label={t('instances.name')}
          description={t('instances.nameHint')}
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
          required
          data-autofocus
        />
        <KindInput
          value={form.values.kind}
          onChange={(kind) => form.setFieldValue('kind', kind)}
          error={form.errors.kind}
        />
        {form.values.kind === 'business_api' && <CredentialsFields form={form} />}
        <DialogButtons action={t('instances.create')} isPending={isPending} problem={problem} onClose={onClose} />
      </Stack>
    </form>
  )
}

/** Sends only the fields of the kind: the organization's number needs no credentials. */
function bodyOf({ name, kind, is_own, ...own }: InstanceValues): object {
  return { name: name.trim(), kind, ...(kind === 'business_api' && is_own && filledValues(own)) }
}

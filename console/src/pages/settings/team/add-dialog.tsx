import { Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import type { Role } from '../../../api/types.js'
import { DialogButtons } from '../dialogs/dialog-buttons.js'
import { useSubmit } from '../forms/use-submit.js'
import { TEAM } from '../queries.js'
import type { Invitation } from '../types.js'
import { RoleInput } from './role-input.js'

interface AddMemberProps {
  onClose: () => void
  onAdded: (invitation: Invitation) => void
}

/** Adds a member, who signs in with a link at first. */
export function AddMemberDialog({ opened, ...rest }: AddMemberProps & { opened: boolean }) {
  const { t } = useTranslation('settings')
  return (
    <Modal opened={opened} onClose={rest.onClose} title={t('team.add')}>
      <AddMemberForm {...rest} />
    </Modal>
  )
}

function AddMemberForm({ onClose, onAdded }: AddMemberProps) {
  const { t } = useTranslation('settings')
  const form = useForm<{ full_name: string; email: string; role: Role }>({
    initialValues: { full_name: '', email: '', role: 'agent' },
  })
  const queries = useQueryClient()
  const { submit, isPending, problem } = useSubmit(
    form,
    ({ full_name, email, role }) =>
      api.post<Invitation>('/team', { full_name: full_name.trim(), email: email.trim(), role }),
    (invitation) => {
      void queries.invalidateQueries({ queryKey: TEAM })
      onClose()
      onAdded(invitation)
    },
    { 'e-mail address': 'email' },
  )
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          {...form.getInputProps('full_name')}
          label={t('team.name')}
          autoComplete="off"
          maxLength={255}
          required
          data-autofocus
        />
        <TextInput
          {...form.getInputProps('email')}
          label={t('team.email')}
          description={t('team.emailHint')}
          type="email"
          autoComplete="off"
          maxLength={320}
          required
        />
        <RoleInput
          value={form.values.role}
          onChange={(role) => form.setFieldValue('role', role)}
          error={form.errors.role}
        />
        <DialogButtons action={t('team.add')} isPending={isPending} problem={problem} onClose={onClose} />
      </Stack>
    </form>
  )
}

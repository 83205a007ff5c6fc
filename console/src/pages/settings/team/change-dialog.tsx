import { Alert, Modal, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import type { Member } from '../../../api/types.js'
import { SESSION, useSession } from '../../../session/session.js'
import { notifyDone } from '../../../shared/problem.js'
import { DialogButtons } from '../dialogs/dialog-buttons.js'
import { useSubmit } from '../forms/use-submit.js'
import { TEAM } from '../queries.js'
import { RoleInput } from './role-input.js'

interface ChangeMemberProps {
  member: Member | null
  onClose: () => void
}

/** Changes the name and role of a member. */
export function ChangeMemberDialog({ opened, member, onClose }: ChangeMemberProps & { opened: boolean }) {
  const { t } = useTranslation('settings')
  return (
    <Modal opened={opened} onClose={onClose} title={t('team.changeTitle', { name: member?.full_name })}>
      {member && <ChangeMemberForm member={member} onClose={onClose} />}
    </Modal>
  )
}

function ChangeMemberForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const { t } = useTranslation('settings')
  const isSelf = useSession().member.id === member.id
  const form = useForm({ initialValues: { full_name: member.full_name, role: member.role } })
  const queries = useQueryClient()
  const { submit, isPending, problem } = useSubmit(
    form,
    ({ full_name, role }) => api.patch(`/team/${member.id}`, { full_name: full_name.trim(), role }),
    () => {
      notifyDone(t('saved', { ns: 'common' }))
      onClose()
      void queries.invalidateQueries({ queryKey: TEAM })
      if (isSelf) void queries.invalidateQueries({ queryKey: SESSION })
    },
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
        <RoleInput
          value={form.values.role}
          onChange={(role) => form.setFieldValue('role', role)}
          error={form.errors.role}
        />
        {isSelf && form.values.role !== 'owner' && <Alert color="yellow">{t('team.ownRole')}</Alert>}
        <DialogButtons action={t('save', { ns: 'common' })} isPending={isPending} problem={problem} onClose={onClose} />
      </Stack>
    </form>
  )
}

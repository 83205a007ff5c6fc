import { Avatar, Select, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { useMay, useSession, useTeam } from '../../../session/session.js'
import { useAssign } from './use-contact.js'

const UNASSIGNED = 'unassigned'

/** Selects the assignee. `label`: whether a label stands above. */
export function Assignee({ contact, label = false }: { contact: InboxContact; label?: boolean }) {
  const { t } = useTranslation('inbox')
  const { member } = useSession()
  const mayAssign = useMay('agent')
  const { members, byId } = useTeam()
  const assign = useAssign(contact)
  const { assignee_id } = contact
  const assignee = assignee_id === null ? undefined : byId.get(assignee_id)
  // Analysts cannot be assigned.
  const others = members.filter(({ id, role }) => id !== member.id && (role !== 'analyst' || id === assignee_id))
  const hasLeft = assignee_id !== null && !assignee && assignee_id !== member.id
  if (!mayAssign) {
    return (
      label && (
        <Stack gap={4}>
          <Text size="sm" fw={500}>
            {t('header.assignee')}
          </Text>
          <Text size="sm">{assignee?.full_name ?? t(hasLeft ? 'header.unknown' : 'header.unassigned')}</Text>
        </Stack>
      )
    )
  }
  return (
    <Select
      size={label ? 'sm' : 'xs'}
      w={label ? undefined : 170}
      {...(label ? { label: t('header.assignee') } : { 'aria-label': t('header.assignee') })}
      value={assignee_id ?? UNASSIGNED}
      onChange={(chosen) => chosen !== null && assign.mutate(chosen === UNASSIGNED ? null : chosen)}
      data={[
        { value: member.id, label: t('header.toMe', { name: member.full_name }) },
        { value: UNASSIGNED, label: t('header.unassigned') },
        ...others.map(({ id, full_name }) => ({ value: id, label: full_name })),
        ...(hasLeft ? [{ value: assignee_id, label: t('header.unknown') }] : []),
      ]}
      leftSection={<Avatar size={18} {...(assignee && { name: assignee.full_name, color: 'initials' })} aria-hidden />}
      searchable={members.length > 8}
      allowDeselect={false}
      disabled={assign.isPending}
    />
  )
}

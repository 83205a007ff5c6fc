import { ActionIcon, Avatar, Badge, Group, Menu, Text } from '@mantine/core'
import { IconDots, IconLink, IconPencil, IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import type { Member } from '../../../api/types.js'
import { useSession } from '../../../session/session.js'
import { ConfirmDialog } from '../dialogs/confirm-dialog.js'
import { useSubject } from '../dialogs/use-subject.js'
import { type Column, Listing } from '../frame/listing.js'
import { TEAM } from '../queries.js'
import type { Invitation, SignInLink } from '../types.js'
import { ChangeMemberDialog } from './change-dialog.js'

interface TeamTableProps {
  members: Member[]
  /** Called with a member's new sign-in link. */
  onLink: (invitation: Invitation) => void
}

/** The members, with their actions. */
export function TeamTable({ members, onLink }: TeamTableProps) {
  const { t } = useTranslation('settings')
  const queries = useQueryClient()
  const changing = useSubject<Member>()
  const linking = useSubject<Member>()
  const removing = useSubject<Member>()
  const makeLink = async (member: Member) => {
    const { link } = await api.post<{ link: SignInLink }>(`/team/${member.id}/link`)
    onLink({ member, link })
  }
  const remove = async ({ id }: Member) => {
    await api.delete(`/team/${id}`)
    await queries.invalidateQueries({ queryKey: TEAM })
  }
  const columns: Column<Member>[] = [
    { label: t('team.name'), place: 'title', cell: (member) => <MemberName member={member} /> },
    { label: t('team.role'), cell: ({ role }) => <Text size="sm">{t(`roles.${role}`, { ns: 'common' })}</Text> },
    {
      label: t('team.signIn'),
      cell: ({ has_password }) => <Text size="sm">{t(has_password ? 'team.byPassword' : 'team.byLink')}</Text>,
    },
    {
      label: t('actions'),
      place: 'actions',
      cell: (member) => (
        <MemberMenu
          member={member}
          onChange={() => changing.open(member)}
          onLink={() => linking.open(member)}
          onRemove={() => removing.open(member)}
        />
      ),
    },
  ]
  return (
    <>
      <Listing label={t('team.title')} columns={columns} rows={members} />
      <ChangeMemberDialog opened={changing.isOpen} member={changing.subject} onClose={changing.close} />
      <ConfirmDialog
        opened={linking.isOpen}
        title={t('team.newLinkTitle', { name: linking.subject?.full_name })}
        action={t('team.newLink')}
        isDanger={false}
        onConfirm={async () => linking.subject && makeLink(linking.subject)}
        onClose={linking.close}
      >
        {t('team.newLinkHint')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={removing.isOpen}
        title={t('team.removeTitle', { name: removing.subject?.full_name })}
        action={t('team.remove')}
        onConfirm={async () => removing.subject && remove(removing.subject)}
        onClose={removing.close}
      >
        {t('team.removeHint')}
      </ConfirmDialog>
    </>
  )
}

function MemberName({ member }: { member: Member }) {
  const { t } = useTranslation('settings')
  const isSelf = useSession().member.id === member.id
  return (
    <Group gap="sm" wrap="nowrap" miw={0}>
      <Avatar name={member.full_name} color="initials" size={36} aria-hidden />
      <div>
        <Group gap={6}>
          <Text size="sm" fw={600}>
            {member.full_name}
          </Text>
          {isSelf && (
            <Badge size="sm" variant="default" tt="none">
              {t('team.you')}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" lineClamp={1}>
          {member.email}
        </Text>
      </div>
    </Group>
  )
}

interface MemberMenuProps {
  member: Member
  onChange: () => void
  onLink: () => void
  onRemove: () => void
}

function MemberMenu({ member, onChange, onLink, onRemove }: MemberMenuProps) {
  const { t } = useTranslation('settings')
  // Members cannot remove themselves.
  const isSelf = useSession().member.id === member.id
  // A link would give access to another owner's account, so only operators create it.
  const mayLink = isSelf || member.role !== 'owner' || !member.has_password
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('actionsFor', { name: member.full_name })}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={onChange}>
          {t('team.change')}
        </Menu.Item>
        {mayLink && (
          <Menu.Item leftSection={<IconLink size={16} aria-hidden />} onClick={onLink}>
            {t('team.newLink')}
          </Menu.Item>
        )}
        {!isSelf && (
          <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={onRemove}>
            {t('team.remove')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import type { Member } from '../../../api/types.js'
import { Loaded } from '../frame/loaded.js'
import { Section } from '../frame/section.js'
import { TEAM } from '../queries.js'
import type { Invitation } from '../types.js'
import { AddMemberDialog } from './add-dialog.js'
import { LinkDialog } from './link-dialog.js'
import { TeamTable } from './table.js'

/** The team settings. */
export function TeamSection() {
  const { t } = useTranslation('settings')
  const [isAdding, adding] = useDisclosure(false)
  const [invitation, setInvitation] = useState<Invitation | null>(null)
  const team = useQuery({
    queryKey: TEAM,
    queryFn: ({ signal }) => api.get<{ members: Member[] }>('/team', {}, signal),
  })
  return (
    <Section
      title={t('team.title')}
      hint={t('team.hint')}
      actions={
        <Button leftSection={<IconUserPlus size={18} aria-hidden />} onClick={adding.open}>
          {t('team.add')}
        </Button>
      }
    >
      <Loaded query={team}>{({ members }) => <TeamTable members={members} onLink={setInvitation} />}</Loaded>
      <AddMemberDialog opened={isAdding} onClose={adding.close} onAdded={setInvitation} />
      <LinkDialog invitation={invitation} onClose={() => setInvitation(null)} />
    </Section>
  )
}

import { Badge, Button, DataList, Divider, Group, Stack, Switch, Text, Title } from '@mantine/core'
import { IconRobot } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { useMay } from '../../../session/session.js'
import { type Format, useFormat } from '../../../shared/format.js'
import { Assignee } from './assignee.js'
import { ContactAvatar } from './contact-avatar.js'
import { nameOf } from './contact-name.js'
import { Copy } from './copy.js'
import { Editable } from './editable.js'
import { Facts, Summary } from './facts.js'
import { Merges } from './merges.js'
import { Tags } from './tags.js'
import { useContactActions } from './use-actions.js'
import { type ContactChanges, useChangeContact } from './use-contact.js'
import { type Wish, wishOf } from './wish.js'

const EMAIL = /^[^@\s]+@[^@\s]+$/

/** The details of a contact, editable for agents and owners. */
export function Details({ contact }: { contact: InboxContact }) {
  const { t } = useTranslation('inbox')
  const mayWrite = useMay('agent')
  const { mutate } = useChangeContact(contact)
  const change = mayWrite ? (changes: ContactChanges) => mutate(changes) : null
  return (
    <Stack p="md" gap="md">
      <Stack align="center" gap={4}>
        <ContactAvatar contact={contact} size={72} />
        <Title order={3} size="h4" ta="center" lineClamp={2}>
          {nameOf(contact)}
        </Title>
        {contact.blocked && <Badge color="red">{t('blocked')}</Badge>}
      </Stack>
      <Person contact={contact} change={change} />
      <Assignee contact={contact} label />
      <Tags tags={contact.tags} onChange={change && ((tags) => change({ tags }))} />
      <Divider />
      {!contact.is_group && <Broadcasts contact={contact} change={change} />}
      <Bot contact={contact} />
      <Divider />
      <Summary contact={contact} />
      <Facts contact={contact} />
      <Merges contact={contact} />
    </Stack>
  )
}

interface PartProps {
  contact: InboxContact
  /** Null if the member may not. */
  change: ((changes: ContactChanges) => void) | null
}

function Person({ contact, change }: PartProps) {
  const { t } = useTranslation('inbox')
  const { full_name, username, phone_number, user_id, email } = contact
  return (
    <DataList gap={6} labelWidth={80}>
      <DataList.Item>
        <DataList.ItemLabel>{t('panel.name')}</DataList.ItemLabel>
        <DataList.ItemValue miw={0}>
          <Editable
            field={t('panel.name')}
            value={full_name}
            onSave={change && ((name) => change({ full_name: name }))}
            maxLength={255}
          />
        </DataList.ItemValue>
      </DataList.Item>
      {username !== null && (
        <DataList.Item>
          <DataList.ItemLabel>{t('panel.username')}</DataList.ItemLabel>
          <DataList.ItemValue miw={0}>
            <Text size="sm" truncate>
              @{username}
            </Text>
          </DataList.ItemValue>
        </DataList.Item>
      )}
      {!contact.is_group && (
        <DataList.Item>
          <DataList.ItemLabel>{t('panel.number')}</DataList.ItemLabel>
          <DataList.ItemValue miw={0}>
            <Group gap={4} wrap="nowrap">
              <Text size="sm" truncate>
                {phone_number ?? t('panel.noNumber')}
              </Text>
              {phone_number !== null && <Copy value={phone_number} label={t('panel.copyNumber')} />}
            </Group>
          </DataList.ItemValue>
        </DataList.Item>
      )}
      {user_id !== null && (
        <DataList.Item>
          <DataList.ItemLabel>{t('panel.userId')}</DataList.ItemLabel>
          <DataList.ItemValue miw={0}>
            <Group gap={4} wrap="nowrap">
              <Text size="sm" truncate>
                {user_id}
              </Text>
              <Copy value={user_id} label={t('panel.copyUserId')} />
            </Group>
          </DataList.ItemValue>
        </DataList.Item>
      )}
      <DataList.Item>
        <DataList.ItemLabel>{t('panel.email')}</DataList.ItemLabel>
        <DataList.ItemValue miw={0}>
          <Editable
            field={t('panel.email')}
            value={email}
            onSave={change && ((address) => change({ email: address }))}
            check={(typed) => (EMAIL.test(typed) ? null : t('panel.emailWrong'))}
            maxLength={320}
          />
        </DataList.ItemValue>
      </DataList.Item>
    </DataList>
  )
}

function Broadcasts({ contact, change }: PartProps) {
  const { t } = useTranslation('inbox')
  const format = useFormat()
  const { allow_broadcast } = contact
  const wish = describeWish(wishOf(contact), t, format)
  if (!change) {
    return (
      <Text size="sm">
        {t('panel.broadcasts')}: {t(allow_broadcast ? 'yes' : 'no', { ns: 'common' })}
        {wish !== undefined && ` · ${wish}`}
      </Text>
    )
  }
  return (
    <Switch
      label={t('panel.broadcasts')}
      description={wish}
      checked={allow_broadcast}
      onChange={(event) => change({ allow_broadcast: event.currentTarget.checked })}
    />
  )
}

/** What the contact said about marketing messages: when, where, and in which words. */
function describeWish(wish: Wish | null, t: TFunction<'inbox'>, format: Format): string | undefined {
  if (wish === null) return undefined
  const { wants, at, source, words } = wish
  const said = t(`panel.${wants === 'stop' ? 'optedOut' : 'optedIn'}`, { date: format.dateTime(at) })
  return [
    said,
    ...(source === null ? [] : [t(`panel.consentSources.${source}`)]),
    ...(words === null ? [] : [`“${words}”`]),
  ].join(' · ')
}

function Bot({ contact }: { contact: InboxContact }) {
  const { t } = useTranslation('inbox')
  const mayWrite = useMay('agent')
  const { setBot, isPending } = useContactActions(contact)
  const { bot_status } = contact
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">
        {t('panel.botStatus')}: {t(`panel.bot.${bot_status ?? 'none'}`)}
      </Text>
      {mayWrite && bot_status !== 'active' && (
        <Button
          size="compact-sm"
          flex="none"
          variant="default"
          leftSection={<IconRobot size={14} aria-hidden />}
          onClick={() => setBot('active')}
          loading={isPending}
        >
          {t('panel.handOver')}
        </Button>
      )}
      {mayWrite && bot_status === 'active' && (
        <Button size="compact-sm" flex="none" variant="default" onClick={() => setBot('paused')} loading={isPending}>
          {t('header.takeOver')}
        </Button>
      )}
    </Group>
  )
}

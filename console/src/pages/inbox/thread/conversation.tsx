import { Button, Center, EmptyState } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ModalsProvider } from '@mantine/modals'
import { IconUserOff } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router'
import type { InboxContact, ReplyChannel, ReplyNumber } from '../../../../../src/model/conversations/inbox.js'
import { ApiError } from '../../../api/client.js'
import { Loading } from '../../../layout/loading.js'
import { useMay } from '../../../session/session.js'
import { LoadProblem } from '../../../shared/problem.js'
import type { NumberChoices } from '../composer/number-choice.js'
import { Erase } from '../contact/erase.js'
import { Panel } from '../contact/panel.js'
import { useContactActions } from '../contact/use-actions.js'
import { useContact } from '../contact/use-contact.js'
import { useActingKeys } from '../keys.js'
import { placeOf, useOpen } from '../list/filter.js'
import { Header, type Side } from './header.js'
import { Thread } from './thread.js'
import classes from './thread.module.css'

/** The conversation and its layout. */
export interface ConversationProps {
  contactId: string
  /** The contact as in the list, shown until it is loaded. */
  listed: InboxContact | undefined
  /** Whether the conversation fills the screen. */
  isAlone: boolean
  side: Side | null
  onSide: (side: Side | null) => void
  hasRoomForPanel: boolean
}

/** The conversation with a contact, and the panel of the contact. */
export default function Conversation({ contactId, listed, ...rest }: ConversationProps) {
  const { contact = listed, channel, numbers, error, refetch } = useContact(contactId)
  const isGone = contact === null || (error instanceof ApiError && (error.status === 404 || error.status === 400))
  if (isGone) return <Gone />
  if (contact) {
    return (
      <ModalsProvider>
        <Open contact={contact} channel={channel} numbers={numbers} {...rest} />
      </ModalsProvider>
    )
  }
  if (error) {
    return (
      <Center flex={1}>
        <LoadProblem error={error} retry={() => void refetch()} />
      </Center>
    )
  }
  return <Loading />
}

interface OpenProps extends Omit<ConversationProps, 'contactId' | 'listed'> {
  contact: InboxContact
  channel: ReplyChannel | undefined
  numbers: ReplyNumber[]
}

function Open({ contact, channel, numbers, isAlone, side, onSide, hasRoomForPanel }: OpenProps) {
  const open = useOpen()
  const [params] = useSearchParams()
  const mayWrite = useMay('agent')
  const { toggleArchived } = useContactActions(contact)
  const [isErasing, erasing] = useDisclosure(false)
  const choices = useNumberChoices(channel, numbers)
  const archive = () => {
    toggleArchived()
    // An archived conversation is closed.
    if (!contact.archived) open(null)
  }
  useActingKeys(mayWrite ? { 'alt+shift+E': archive } : {})
  return (
    <>
      <section className={classes.conversation}>
        <Header
          contact={contact}
          back={isAlone ? placeOf(null, params) : null}
          side={side}
          onSide={onSide}
          onArchive={archive}
          onErase={erasing.open}
        />
        <Thread key={contact.id} contact={contact} channel={choices.number ?? channel} choices={choices} />
      </section>
      <Panel key={`panel-${contact.id}`} contact={contact} side={side} onSide={onSide} isDrawer={!hasRoomForPanel} />
      <Erase contact={contact} opened={isErasing} onClose={erasing.close} onErased={() => open(null)} />
    </>
  )
}

/** The number that the member has chosen, else that of the reply channel. */
function useNumberChoices(channel: ReplyChannel | undefined, numbers: ReplyNumber[]): NumberChoices {
  const [chosen, choose] = useState<string | null>(null)
  const own = numbers.find(({ instance }) => channel?.kind === 'business_api' && instance === channel.instance)
  const number = numbers.find(({ from }) => from === chosen) ?? own
  return { numbers, number, isChosen: number !== own, choose }
}

/** Shown if the contact does not exist. */
function Gone() {
  const { t } = useTranslation('inbox')
  const [params] = useSearchParams()
  return (
    <Center flex={1} p="md">
      <EmptyState
        withIndicatorBackground
        icon={<IconUserOff stroke={1.5} aria-hidden />}
        title={t('gone')}
        description={t('goneHint')}
      >
        <EmptyState.Actions>
          <Button component={Link} to={placeOf(null, params)} variant="default">
            {t('toList')}
          </Button>
        </EmptyState.Actions>
      </EmptyState>
    </Center>
  )
}

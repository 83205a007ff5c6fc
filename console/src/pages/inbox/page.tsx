import { Center, EmptyState, Kbd } from '@mantine/core'
import { useDisclosure, useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { IconMessages } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { useParams } from 'react-router'
import type { VirtuosoHandle } from 'react-virtuoso'
import { lazyPart } from '../../i18n/index.js'
import { Loading } from '../../layout/loading.js'
import { useIsPhone } from '../../layout/use-is-phone.js'
import { LoadProblem } from '../../shared/problem.js'
import { nameOf } from './contact/contact-name.js'
import { useActingKeys, useMovingKeys } from './keys.js'
import { Empty } from './list/empty.js'
import { useInboxFilter, useOpen } from './list/filter.js'
import { Head, SEARCH_ID } from './list/head.js'
import { List, ListSkeleton } from './list/list.js'
import { useInbox } from './list/use-inbox.js'
import { useRoving } from './list/use-roving.js'
import classes from './page.module.css'
import type { ConversationProps } from './thread/conversation.js'
import type { Side } from './thread/header.js'

// Loaded first.
const Conversation = lazyPart(['thread'], () => import('./thread/conversation.js'))
const NewContact = lazy(() => import('./list/new-contact.js'))
const Shortcuts = lazy(() => import('./shortcuts.js'))

/** Minimum width for list, conversation and panel side by side. */
const WIDE = '(min-width: 75em)'

/** The inbox: list, open conversation and contact panel. */
export function InboxPage() {
  const { contactId: openId = null } = useParams()
  const [filter, changeFilter] = useInboxFilter()
  const isPhone = useIsPhone()
  const inbox = useInbox(filter, openId)
  const { contacts, isPending } = inbox
  useEffect(() => {
    if (!isPending) Conversation.preload()
  }, [isPending])
  const list = useRef<VirtuosoHandle>(null)
  const roving = useRoving(contacts, openId, list)
  const [isCreating, creating] = useDisclosure(false)
  const [isHelpOpen, help] = useDisclosure(false)
  const open = useOpen()
  const openNext = (by: number) => {
    const place = contacts.findIndex(({ id }) => id === openId)
    const next = contacts[place < 0 ? 0 : place + by]
    if (next) open(next.id)
  }
  const listed = contacts.find(({ id }) => id === openId)
  useTitle(listed ? nameOf(listed) : null, contacts.filter((contact) => contact.has_unread_messages).length)
  useMovingKeys({
    j: () => roving.move(1),
    k: () => roving.move(-1),
    '/': () => document.getElementById(SEARCH_ID)?.focus(),
    'shift+?': help.open,
  })
  useActingKeys({ 'alt+ArrowDown': () => openNext(1), 'alt+ArrowUp': () => openNext(-1) })
  const isListShown = !isPhone || openId === null
  return (
    <div className={classes.inbox}>
      {isListShown && (
        <section className={classes.list}>
          <Head
            filter={filter}
            onFilter={changeFilter}
            onNew={creating.open}
            onDown={roving.enter}
            onShortcuts={isPhone ? null : help.open}
          />
          {inbox.error && contacts.length === 0 ? (
            <LoadProblem error={inbox.error} retry={() => void inbox.refetch()} />
          ) : isPending ? (
            <ListSkeleton />
          ) : contacts.length === 0 ? (
            <Empty filter={filter} onFilter={changeFilter} onNew={creating.open} />
          ) : (
            <List
              contacts={contacts}
              openId={openId}
              roving={roving}
              handle={list}
              isLoadingMore={inbox.isFetchingNextPage}
              onEnd={() => inbox.hasNextPage && void inbox.fetchNextPage()}
            />
          )}
        </section>
      )}
      {openId !== null ? (
        <Suspense fallback={<Loading />}>
          <OpenConversation key={openId} contactId={openId} listed={listed} isAlone={isPhone} />
        </Suspense>
      ) : (
        !isPhone && <NoneOpen />
      )}
      <Suspense>
        {isCreating && <NewContact opened onClose={creating.close} onOpen={open} />}
        {isHelpOpen && <Shortcuts opened onClose={help.close} />}
      </Suspense>
    </div>
  )
}

type OpenProps = Pick<ConversationProps, 'contactId' | 'listed' | 'isAlone'>

/**
 * The open panel. With enough room it stays open for the next conversation; else it is a drawer that opens on demand.
 */
function OpenConversation(props: OpenProps) {
  const hasRoomForPanel = useMediaQuery(WIDE, true, { getInitialValueInEffect: false })
  const [areDetailsShown, showDetails] = useLocalStorage({
    key: 'parley.details',
    defaultValue: true,
    getInitialValueInEffect: false,
  })
  const [asked, ask] = useState<Side | null>(null)
  // The search belongs to one conversation; the details stay open.
  const stays = hasRoomForPanel && areDetailsShown ? 'details' : null
  const change = (side: Side | null) => {
    ask(side)
    if (hasRoomForPanel && side !== 'search') showDetails(side !== null)
  }
  return <Conversation {...props} hasRoomForPanel={hasRoomForPanel} side={asked ?? stays} onSide={change} />
}

function NoneOpen() {
  const { t } = useTranslation('inbox')
  return (
    <Center flex={1} p="md" className={classes.none}>
      <EmptyState
        withIndicatorBackground
        icon={<IconMessages stroke={1.5} aria-hidden />}
        title={t('choose')}
        description={<Trans t={t} i18nKey="chooseHint" components={{ key: <Kbd /> }} />}
      />
    </Center>
  )
}

/** Sets the tab's title: the open conversation, and the number of unread ones among those loaded. */
function useTitle(name: string | null, unread: number): void {
  const { t } = useTranslation('inbox')
  const title = `${name ?? t('title')} · Parley`
  useEffect(() => {
    document.title = unread === 0 ? title : t('unreadTitle', { count: unread, title })
  }, [t, title, unread])
}

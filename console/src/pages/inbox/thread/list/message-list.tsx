import { ActionIcon, Indicator, Loader } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { type Ref, useCallback, useEffect, useImperativeHandle, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Components, Virtuoso, type VirtuosoHandle } from 'react-virtuoso'
import { MessageItem } from '../message/message-item.js'
import classes from '../thread.module.css'
import type { ThreadStore } from '../use-thread.js'
import { isAtEnd as isWhole } from '../window.js'
import type { Entry } from './entries.js'
import { useMessageFocus } from './use-message-focus.js'
import { useStickToEnd } from './use-stick-to-end.js'

/** Imperative methods of the list. */
export interface ListHandle {
  goTo: (seq: number) => void
  goToNewest: () => void
}

interface Context {
  focused: number
  marked: number | null
  isLoadingOlder: boolean
}

/** More than the messages of any conversation: the list wants no index below 0, and numbers can be below 1. */
const ABOVE_ALL = 1_000_000_000

interface MessageListProps {
  entries: Entry[]
  store: ThreadStore
  newCount: number
  onAtBottom: (isAtBottom: boolean) => void
  ref: Ref<ListHandle>
}

/** The loaded messages of a conversation. */
export function MessageList({ entries, store, newCount, onAtBottom, ref }: MessageListProps) {
  const { t } = useTranslation('thread')
  const list = useRef<VirtuosoHandle>(null)
  const first = entries[0]?.seq ?? 1
  const last = entries.at(-1)?.seq ?? 1
  const { generation, target, jumpTo, jumpToNewest } = store
  const isTargetHeld = target !== null && target >= first && target <= last
  const { isAtEnd, attach, goToEnd, leave, check } = useStickToEnd(!isTargetHeld)
  const [marked, mark] = useMark(store)
  const { focusable, walk } = useMessageFocus(list, first, last, leave)
  useEffect(() => onAtBottom(isAtEnd), [isAtEnd, onAtBottom])

  const goTo = useCallback(
    (seq: number) => {
      mark(seq)
      if (jumpTo(seq)) return
      leave()
      list.current?.scrollToIndex({ index: seq - first, align: 'center', behavior: 'auto' })
    },
    [jumpTo, first, mark, leave],
  )
  const goToNewest = useCallback(() => {
    if (!jumpToNewest()) goToEnd()
  }, [jumpToNewest, goToEnd])
  const loadNewer = () => {
    if (store.window && !isWhole(store.window)) void store.loadNewer()
  }
  useImperativeHandle(ref, () => ({ goTo, goToNewest }), [goTo, goToNewest])

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are handled for the messages, which have the focus
    <div className={classes.list} onKeyDown={walk}>
      <Virtuoso<Entry, Context>
        key={generation}
        ref={list}
        scrollerRef={attach}
        data={entries}
        context={{ focused: focusable, marked, isLoadingOlder: first > (store.window?.first_seq ?? first) }}
        firstItemIndex={ABOVE_ALL + first}
        initialTopMostItemIndex={
          isTargetHeld ? { index: target - first, align: 'center' } : { index: 'LAST', align: 'end' }
        }
        computeItemKey={(_, { message }) => message.id}
        itemContent={(_, entry, context) => (
          <MessageItem
            entry={entry}
            isFocusable={context.focused === entry.seq}
            isMarked={context.marked === entry.seq}
          />
        )}
        components={PARTS}
        atBottomStateChange={check}
        startReached={store.loadOlder}
        endReached={loadNewer}
        // With more overscan, loading older messages would move the message that was jumped to.
        increaseViewportBy={{ top: 800, bottom: 400 }}
        // Measures before the paint instead of a frame later: otherwise messages jump.
        skipAnimationFrameInResizeObserver
        alignToBottom
        role="log"
        // New messages are announced separately: messages loaded while scrolling are not new.
        aria-live="off"
        aria-label={t('messages')}
        tabIndex={-1}
        className={classes.scroller}
      />
      {!isAtEnd && <JumpToNewest newCount={newCount} onClick={goToNewest} />}
    </div>
  )
}

function JumpToNewest({ newCount, onClick }: { newCount: number; onClick: () => void }) {
  const { t } = useTranslation('thread')
  return (
    <Indicator
      className={classes.down}
      label={newCount > 99 ? '99+' : newCount}
      disabled={newCount === 0}
      size={20}
      color="cyan.9"
    >
      <ActionIcon
        size={42}
        radius="xl"
        variant="default"
        onClick={onClick}
        aria-label={newCount > 0 ? t('newMessages', { count: newCount }) : t('toNewest')}
      >
        <IconChevronDown aria-hidden />
      </ActionIcon>
    </Indicator>
  )
}

/** Highlights the message that was jumped to for a moment. */
function useMark({ generation, target }: ThreadStore) {
  const [marked, setMarked] = useState<{ seq: number } | null>(null)
  const mark = useCallback((seq: number) => setMarked({ seq }), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same target may be requested again
  useEffect(() => setMarked(target === null ? null : { seq: target }), [generation, target])
  useEffect(() => {
    if (marked === null) return
    const timer = setTimeout(() => setMarked(null), 2_000)
    return () => clearTimeout(timer)
  }, [marked])
  return [marked?.seq ?? null, mark] as const
}

const PARTS: Components<Entry, Context> = {
  Header: ({ context }) =>
    context?.isLoadingOlder ? (
      <div className={classes.older}>
        <Loader size="xs" />
      </div>
    ) : null,
  Footer: () => <div className={classes.foot} />,
}

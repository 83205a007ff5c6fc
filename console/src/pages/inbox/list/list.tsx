import { Box, Center, Loader, Skeleton, Stack } from '@mantine/core'
import { type ComponentProps, type Ref, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router'
import { Virtuoso, type VirtuosoHandle } from 'react-virtuoso'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import { useTeam } from '../../../session/session.js'
import { placeOf } from './filter.js'
import classes from './list.module.css'
import { Row } from './row.js'
import type { Roving } from './use-roving.js'

interface ListProps {
  contacts: readonly InboxContact[]
  openId: string | null
  roving: Roving
  handle: Ref<VirtuosoHandle>
  isLoadingMore: boolean
  onEnd: () => void
}

/** The conversations. Only visible rows are in the DOM. */
export function List({ contacts, openId, roving, handle, isLoadingMore, onEnd }: ListProps) {
  const { byId } = useTeam()
  const [params] = useSearchParams()
  const places = useMemo(
    () => new Map(contacts.map(({ id }) => [id, placeOf(id, params)])),
    // Rows are rendered again only if their URL changes.
    [contacts, params],
  )
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are handled for the rows' links
    <div className={classes.list} onKeyDown={roving.onKeyDown}>
      <Virtuoso
        ref={handle}
        data={contacts}
        context={{ isLoadingMore }}
        components={COMPONENTS}
        computeItemKey={(_, { id }) => id}
        endReached={onEnd}
        increaseViewportBy={300}
        itemContent={(_, contact) => (
          <Row
            contact={contact}
            to={places.get(contact.id) ?? ''}
            isOpen={contact.id === openId}
            isTabStop={contact.id === roving.tabStop}
            assignee={contact.assignee_id === null ? undefined : byId.get(contact.assignee_id)}
            onFocus={roving.onFocus}
          />
        )}
      />
    </div>
  )
}

interface ListContext {
  isLoadingMore: boolean
}

/** List elements with roles for screen readers. Defined outside of the component to keep their identity. */
const COMPONENTS = {
  Scroller: ({ context: _, ...props }: ComponentProps<'div'> & { context: ListContext }) => (
    <div {...props} tabIndex={-1} />
  ),
  List: function ListOfRows({ context: _, ...props }: ComponentProps<'div'> & { context: ListContext }) {
    const { t } = useTranslation('inbox')
    // biome-ignore lint/a11y/useSemanticElements: the library renders its own elements
    return <div {...props} role="list" aria-label={t('conversations')} />
  },
  Item: ({
    context: _,
    item: _item,
    ...props
  }: ComponentProps<'div'> & { context: ListContext; item: InboxContact }) => (
    // biome-ignore lint/a11y/useSemanticElements: the library renders its own elements
    <div {...props} role="listitem" />
  ),
  Footer: function LoadingMore({ context }: { context: ListContext }) {
    const { t } = useTranslation('inbox')
    if (!context.isLoadingMore) return <Box h={8} />
    return (
      <Center p="sm" role="status" aria-label={t('loadingMore')}>
        <Loader size="sm" type="dots" />
      </Center>
    )
  },
}

/** Placeholder while the list loads. */
export function ListSkeleton() {
  const { t } = useTranslation()
  return (
    <Stack px="lg" py="xs" gap="lg" role="status" aria-label={t('loading')}>
      {['80%', '60%', '70%', '50%', '75%', '65%'].map((width) => (
        <Stack key={width} gap={0} className={classes.skeleton}>
          <Skeleton circle height={44} />
          <Skeleton height={10} width="45%" />
          <Skeleton height={10} width={width} />
        </Stack>
      ))}
    </Stack>
  )
}

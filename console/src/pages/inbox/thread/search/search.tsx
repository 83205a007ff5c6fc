import { Button, Highlight, Loader, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSearchParams } from 'react-router'
import type { Hit, InboxContact } from '../../../../../../src/model/conversations/inbox.js'
import { api } from '../../../../api/client.js'
import { useFormat } from '../../../../shared/format.js'
import { LoadProblem } from '../../../../shared/problem.js'
import { excerpt } from './excerpt.js'
import classes from './search.module.css'

const TYPING_MS = 300
const HITS_A_PAGE = 20

interface Hits {
  messages: Hit[]
  /** Of all pages. */
  total: number
}

/** Searches the messages of a conversation. A click on a hit jumps to its message. */
export function ConversationSearch({ contact, onJump }: { contact: InboxContact; onJump: () => void }) {
  const { t } = useTranslation('inbox')
  const [typed, setTyped] = useState('')
  const [words] = useDebouncedValue(typed.trim(), TYPING_MS)
  return (
    <Stack p="md" gap="sm">
      <TextInput
        type="search"
        label={t('find.label')}
        description={t('find.hint')}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        leftSection={<IconSearch size={16} aria-hidden />}
        maxLength={200}
        data-autofocus
        autoFocus
      />
      {words !== '' && <Found contactId={contact.id} words={words} onJump={onJump} />}
    </Stack>
  )
}

function Found({ contactId, words, onJump }: { contactId: string; words: string; onJump: () => void }) {
  const { t } = useTranslation('inbox')
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['inbox', 'find', contactId, words],
    queryFn: ({ pageParam, signal }) =>
      api.get<Hits>(`/contacts/${contactId}/search`, { query: words, page: pageParam, limit: HITS_A_PAGE }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ total }, _, page) => (page * HITS_A_PAGE < total ? page + 1 : null),
    placeholderData: keepPreviousData,
  })
  if (error) return <LoadProblem error={error} retry={() => void refetch()} />
  if (isPending) return <Loader size="sm" type="dots" mx="auto" />
  const hits = data.pages.flatMap(({ messages }) => messages)
  const count = data.pages[0]?.total ?? 0
  return (
    <>
      <Text size="sm" role="status">
        {count === 0 ? t('find.none', { words }) : t('find.hits', { count })}
      </Text>
      <Stack gap={2} component="ul" m={0} p={0}>
        {hits.map((hit) => (
          <HitRow key={hit.id} hit={hit} words={words} onJump={onJump} />
        ))}
      </Stack>
      {hasNextPage && (
        <Button size="xs" variant="default" onClick={() => void fetchNextPage()} loading={isFetchingNextPage}>
          {t('find.more')}
        </Button>
      )}
    </>
  )
}

const WRITERS = { 'user-chat': 'customer', 'human-chat': 'team', 'bot-chat': 'bot', system: 'system' } as const

function HitRow({ hit, words, onJump }: { hit: Hit; words: string; onJump: () => void }) {
  const { t } = useTranslation('inbox')
  const format = useFormat()
  const [params, setParams] = useSearchParams()
  const jump = () => {
    setParams((current) => {
      const next = new URLSearchParams(current)
      next.set('message', String(hit.seq))
      return next
    })
    onJump()
  }
  return (
    <Text component="li" display="block">
      <UnstyledButton
        className={classes.hit}
        onClick={jump}
        {...(params.get('message') === String(hit.seq) && { 'aria-current': true })}
      >
        <Text size="xs" c="dimmed">
          {hit.assignee?.full_name ?? t(`find.${WRITERS[hit.sender_type]}`)} · {format.dateTime(hit.created_at)}
        </Text>
        <Highlight size="sm" lineClamp={4} highlight={termsOf(words)} className={classes.words}>
          {excerpt(hit.message || (hit.voice_note_transcription ?? ''), termsOf(words))}
        </Highlight>
      </UnstyledButton>
    </Text>
  )
}

/** The service searches for each of the terms between commas. */
function termsOf(words: string): string[] {
  return words.split(',').flatMap((term) => term.trim() || [])
}

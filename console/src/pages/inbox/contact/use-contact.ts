import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { InboxContact, ReplyChannel, ReplyNumber } from '../../../../../src/model/conversations/inbox.js'
import { api } from '../../../api/client.js'
import { useLive } from '../../../api/live.js'
import type { ChangedContact, Contact } from '../../../api/types.js'
import { notifyError } from '../../../shared/problem.js'
import { withUpdates } from '../list/live-updates.js'
import { useLiveUpdates } from '../list/live-updates-provider.js'

/** A contact and the channel for replies to it, kept up to date by live events. */
export function useContact(contactId: string) {
  const { latest } = useLiveUpdates()
  const queries = useQueryClient()
  const queryKey = ['inbox', 'contact', contactId]
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const askedAt = performance.now()
      return { ...(await api.get<Answer>(`/inbox/${contactId}`, {}, signal)), askedAt }
    },
    refetchOnMount: 'always',
  })
  useLive(({ type, contact_id, message }) => {
    const isElsewhere =
      type === 'message.received' && contact_id === contactId && message?.instance !== query.data?.line.instance
    if (isElsewhere || type.startsWith('instance.')) void queries.invalidateQueries({ queryKey })
  })
  const { data, error, refetch } = query
  return {
    contact: data && withUpdates(data.contact, latest.updates, data.askedAt),
    channel: data?.line,
    numbers: data?.numbers ?? NO_NUMBERS,
    error,
    refetch,
  }
}

const NO_NUMBERS: ReplyNumber[] = []

interface Answer {
  contact: InboxContact
  line: ReplyChannel
  /** What may be chosen instead; empty if the organization has one number. */
  numbers: ReplyNumber[]
}

/** Fields of a contact that members can change. */
export type ContactChanges = Partial<
  Pick<Contact, 'full_name' | 'email' | 'tags' | 'allow_broadcast' | 'archived' | 'blocked' | 'bot_status'>
>

/** Changes fields of a contact. The change shows at once; an error undoes it and shows a notification. */
export function useChangeContact(contact: InboxContact) {
  const { keep } = useLiveUpdates()
  return useMutation({
    mutationFn: (changes: ContactChanges) =>
      api.patch<ChangedContact>(`/contact?${new URLSearchParams({ chat_id: contact.chat_id })}`, changes),
    onMutate: (changes) => {
      keep({ ...contact, ...changes }, performance.now())
      return { before: contact, askedAt: performance.now() }
    },
    onSuccess: (changed, _, { askedAt }) => keep({ ...contact, ...changed.contact }, askedAt),
    onError: (error, _, asked) => {
      if (asked) keep(asked.before, asked.askedAt)
      notifyError(error)
    },
  })
}

/** Assigns a contact to a member. Null: unassigned. */
export function useAssign(contact: InboxContact) {
  const { keep } = useLiveUpdates()
  return useMutation({
    mutationFn: async (memberId: string | null) =>
      (await api.put<{ contact: InboxContact }>(`/contacts/${contact.id}/assignee`, { member_id: memberId })).contact,
    onMutate: () => performance.now(),
    onSuccess: (changed, _, askedAt) => keep(changed, askedAt),
    onError: (error) => notifyError(error),
  })
}

import { useDocumentVisibility, useWindowEvent } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import type { InboxContact } from '../../../../../../src/model/conversations/inbox.js'
import { api } from '../../../../api/client.js'
import type { ThreadWindow } from '../window.js'
import { isToMark, type Mark } from './marked.js'

// The message up to which this page has marked each conversation as read.
const marked = new Map<string, Mark>()

/** Marks the conversation as read while its newest message is visible. */
export function useReadMark(contact: InboxContact, window: ThreadWindow | undefined, isSeen: boolean): void {
  const hasFocus = useFocus()
  const newest = window?.messages.findLast(({ sender_type }) => sender_type === 'user-chat')
  const [id, seq] = [newest?.id, newest?.seq ?? null]
  const isUnread = contact.has_unread_messages || (newest !== undefined && newest.message_status !== 'read')
  useEffect(() => {
    if (!hasFocus || !isSeen || !isUnread || id === undefined || seq === null) return
    if (!isToMark(marked.get(contact.id), { id, seq })) return
    marked.set(contact.id, { id, seq })
    // Retried with the next message, or when the conversation is opened again.
    api.post(`/contacts/${contact.id}/read`, { seq }).catch(() => marked.delete(contact.id))
  }, [contact.id, hasFocus, isSeen, isUnread, id, seq])
}

function useFocus(): boolean {
  const isVisible = useDocumentVisibility() === 'visible'
  const [hasFocus, setFocus] = useState(() => document.hasFocus())
  useWindowEvent('focus', () => setFocus(true))
  useWindowEvent('blur', () => setFocus(false))
  return isVisible && hasFocus
}

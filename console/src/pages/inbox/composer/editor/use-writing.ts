import { useRef, useState } from 'react'
import { api } from '../../../../api/client.js'
import { tellProblem } from '../../../../shared/problem.js'
import { TEXT_LIMITS } from '../attachments/limits.js'
import type { Attachments } from '../attachments/use-attachments.js'
import type { Draft } from '../drafts.js'
import type { SendRequest } from '../pending-sends.js'
import { chatRequest, fileRequest, type Route } from '../requests.js'

/** What is being written, and what becomes of it. */
export interface Writing {
  text: string
  setText: (value: string) => void
  /** How many characters may still be written; less than none: it is too long. */
  left: number
  maySend: boolean
  isBusy: boolean
  submit: () => void
}

/** A message, or a note for the team. */
export function useWriting({
  route,
  draft,
  onDraft,
  attachments,
  isClosed,
  onSend,
  onNote,
  onDone,
}: {
  route: Route
  draft: Draft
  onDraft: (change: Partial<Draft>) => void
  attachments: Attachments
  isClosed: boolean
  onSend: (request: SendRequest) => void
  onNote: () => void
  /** It has been handed over, or could not be: the next can be written. */
  onDone: () => void
}): Writing {
  const [isBusy, setBusy] = useState(false)
  const { isNote } = draft
  const newest = useRef(draft)
  newest.current = draft
  const text = isNote ? draft.note : draft.text
  const hasFiles = attachments.all.length > 0
  const limit = isNote ? TEXT_LIMITS.note : hasFiles ? TEXT_LIMITS.caption : TEXT_LIMITS.text
  const left = limit - [...text].length
  const isEmpty = text.trim() === '' && (isNote || !hasFiles)
  const maySend = !isEmpty && left >= 0 && !isBusy && (isNote || !isClosed)

  const saveNote = async () => {
    setBusy(true)
    onDraft({ note: '' })
    try {
      await api.post(`/contacts/${route.contact.id}/notes`, { text: text.trim() })
      onNote()
    } catch (error) {
      // What has been written in the meantime is not overwritten.
      if (newest.current.note === '') onDraft({ note: text })
      tellProblem(error)
    } finally {
      setBusy(false)
      onDone()
    }
  }
  const sendMessage = () => {
    for (const request of toRequests(route, text.trim(), attachments.take())) onSend(request)
    onDraft({ text: '', replyTo: null })
    onDone()
  }
  const submit = () => {
    if (!maySend) return
    if (isNote) void saveNote()
    else sendMessage()
  }
  const setText = (value: string) => onDraft(isNote ? { note: value } : { text: value })
  return { text, setText, left, maySend, isBusy, submit }
}

/** The text goes below the first file that can have one; else it is a message of its own. Only the first answers. */
function toRequests(route: Route, text: string, files: Attachments['all']): SendRequest[] {
  const captioned = files.find(({ kind }) => kind !== 'audio')
  const requests: ((route: Route) => SendRequest)[] = files.map(
    (attachment) => (to: Route) =>
      fileRequest(to, attachment.file, attachment.kind, attachment === captioned ? text : ''),
  )
  if (!captioned && text !== '') {
    requests.push((to) => chatRequest(to, { text }, { message_type: 'text', message: text }))
  }
  return requests.map((request, index) => request(index === 0 ? route : { ...route, replyTo: null }))
}

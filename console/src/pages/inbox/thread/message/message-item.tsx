import { memo } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../../../shared/format.js'
import { type Entry, isSameEntry } from '../list/entries.js'
import classes from '../thread.module.css'
import { Bubble } from './bubble.js'
import bubbleClasses from './bubble.module.css'
import { NoteCard } from './note-card.js'

interface ItemProps {
  entry: Entry
  isFocusable: boolean
  isMarked: boolean
}

/**
 * A message with day, notes and actions. Rendered again only if its entry changed, so that a new message stays cheap.
 */
export const MessageItem = memo(function MessageItem({ entry, isFocusable, isMarked }: ItemProps) {
  const format = useFormat()
  const { t } = useTranslation('thread')
  const { message, notes, notesAbove, startsDay, startsStandby, wish } = entry
  return (
    // The list does not measure margins that stick out.
    <div className={classes.item}>
      {startsDay && (
        <h2 className={bubbleClasses.pill}>
          <time dateTime={message.created_at}>{format.day(message.created_at)}</time>
        </h2>
      )}
      {notesAbove.map((note) => (
        <NoteCard key={note.id} note={note} />
      ))}
      {startsStandby && <p className={bubbleClasses.pill}>{t('handover.unnamed')}</p>}
      <Bubble entry={entry} isFocusable={isFocusable} isMarked={isMarked} />
      {notes.map((note) => (
        <NoteCard key={note.id} note={note} />
      ))}
      {wish && (
        <p className={bubbleClasses.pill}>
          <time dateTime={wish.at}>{format.dateTime(wish.at)}</time>: {t(`wishes.${wish.wants}`)}
          {wish.words !== null && ` “${wish.words}”`}
        </p>
      )}
    </div>
  )
}, isSameItem)

function isSameItem(before: ItemProps, { entry, isFocusable, isMarked }: ItemProps): boolean {
  return isFocusable === before.isFocusable && isMarked === before.isMarked && isSameEntry(before.entry, entry)
}

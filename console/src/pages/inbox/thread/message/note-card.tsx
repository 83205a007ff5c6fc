import { ActionIcon, Group, Text } from '@mantine/core'
import { IconNote, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { useTeam } from '../../../../session/session.js'
import { useFormat } from '../../../../shared/format.js'
import { Markup } from '../../../../shared/markup.js'
import { useThreadActions } from '../actions.js'
import type { Note } from '../window.js'
import classes from './bubble.module.css'

/** A note, visible to the team only. */
export function NoteCard({ note }: { note: Note }) {
  const { t } = useTranslation('thread')
  const { byId } = useTeam()
  const { deleteNote, mayDelete } = useThreadActions()
  const format = useFormat()
  const author = (note.member_id !== null && byId.get(note.member_id)?.full_name) || t('formerMember')
  return (
    <article className={classes.note} aria-label={t('noteBy', { name: author })}>
      <Group gap={6} wrap="nowrap">
        <IconNote aria-hidden size={14} />
        <Text size="xs" fw={600} flex={1} truncate>
          {t('noteBy', { name: author })}
        </Text>
        <Text size="xs" component="time" dateTime={note.created_at}>
          {format.time(note.created_at)}
        </Text>
        {mayDelete(note) && (
          <ActionIcon
            size="sm"
            variant="transparent"
            c="inherit"
            onClick={() => deleteNote(note)}
            aria-label={t('deleteNote')}
          >
            <IconTrash aria-hidden size={14} />
          </ActionIcon>
        )}
      </Group>
      <Text component="div" size="sm" className={classes.noteText}>
        <Markup text={note.text} />
      </Text>
    </article>
  )
}

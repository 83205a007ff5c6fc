import { ActionIcon, Drawer, Group, ScrollArea, Tabs } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'
import type { Side } from '../thread/header.js'
import { ConversationSearch } from '../thread/search/search.js'
import { Details } from './details.js'
import classes from './panel.module.css'

interface PanelProps {
  contact: InboxContact
  side: Side | null
  onSide: (side: Side | null) => void
  /** Whether it is a drawer, without room beside the conversation. */
  isDrawer: boolean
}

/** The panel beside a conversation: contact details, and search in the messages. */
export function Panel({ contact, side, onSide, isDrawer }: PanelProps) {
  const { t } = useTranslation('inbox')
  if (!isDrawer) {
    if (side === null) return null
    return (
      <aside className={classes.aside} aria-label={t('panel.label')}>
        <Sides contact={contact} side={side} onSide={onSide} onClose={() => onSide(null)} onJump={() => undefined} />
      </aside>
    )
  }
  return (
    <Drawer.Root opened={side !== null} onClose={() => onSide(null)} position="right" size={380} padding={0}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={t('panel.label')}>
        <Drawer.Body className={classes.drawerBody}>
          {side !== null && (
            // Close the drawer, which would cover the message.
            <Sides
              contact={contact}
              side={side}
              onSide={onSide}
              onClose={() => onSide(null)}
              onJump={() => onSide(null)}
            />
          )}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  )
}

interface SidesProps {
  contact: InboxContact
  side: Side
  onSide: (side: Side) => void
  onClose: () => void
  onJump: () => void
}

function Sides({ contact, side, onSide, onClose, onJump }: SidesProps) {
  const { t } = useTranslation('inbox')
  return (
    <Tabs value={side} onChange={(chosen) => onSide(chosen as Side)} keepMounted={false} className={classes.panel}>
      <Group className={classes.tabs} wrap="nowrap" gap={0}>
        <Tabs.List flex={1} className={classes.tabList}>
          <Tabs.Tab value="details">{t('panel.details')}</Tabs.Tab>
          <Tabs.Tab value="search">{t('panel.search')}</Tabs.Tab>
        </Tabs.List>
        <ActionIcon variant="subtle" color="gray" onClick={onClose} aria-label={t('close', { ns: 'common' })} mr="sm">
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Group>
      <Tabs.Panel value="details" className={classes.panel}>
        <ScrollArea flex={1} type="auto" scrollbars="y">
          <Details contact={contact} />
        </ScrollArea>
      </Tabs.Panel>
      <Tabs.Panel value="search" className={classes.panel}>
        <ScrollArea flex={1} type="auto" scrollbars="y">
          <ConversationSearch contact={contact} onJump={onJump} />
        </ScrollArea>
      </Tabs.Panel>
    </Tabs>
  )
}

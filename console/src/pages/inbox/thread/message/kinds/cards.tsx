import { Anchor, Avatar, Group, Stack, Text } from '@mantine/core'
import { asObject, asObjects, asText } from '../../../../../shared/json.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'

/** Contact cards: names, and numbers to call. */
export function Cards({ message }: { message: ThreadMessage }) {
  return (
    <Stack gap={6}>
      {asObjects(message.content).map((card, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: cards have no id, and their order never changes
        <Card key={index} card={card} />
      ))}
    </Stack>
  )
}

function Card({ card }: { card: Record<string, unknown> }) {
  const name = asObject(card.name)
  const phones = asObjects(card.phones).flatMap(({ phone }) => asText(phone) ?? [])
  const shown = asText(name.formatted_name) ?? asText(name.first_name) ?? phones[0] ?? '?'
  return (
    <div className={classes.box}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Avatar name={shown} color="initials" radius="xl" size={38} aria-hidden />
        <Stack gap={0} miw={0}>
          <Text size="sm" fw={600} lineClamp={2}>
            {shown}
          </Text>
          {phones.map((phone) => (
            <Anchor key={phone} href={`tel:${phone.replace(/[^\d+]/g, '')}`} size="sm">
              {phone}
            </Anchor>
          ))}
        </Stack>
      </Group>
    </div>
  )
}

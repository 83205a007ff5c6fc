import { Group, Kbd, Modal, Stack, Table, Title } from '@mantine/core'
import { Fragment } from 'react'
import { useTranslation } from 'react-i18next'

/** Alternative key combinations, each with its keys. */
type Keys = readonly (readonly string[])[]

const GROUPS = [
  {
    name: 'list',
    shortcuts: [
      { name: 'move', keys: [['↑'], ['↓'], ['k'], ['j']] as Keys },
      { name: 'openOne', keys: [['Enter']] as Keys },
      { name: 'search', keys: [['/']] as Keys },
    ],
  },
  {
    name: 'anywhere',
    shortcuts: [
      {
        name: 'switch',
        keys: [
          ['Alt', '↑'],
          ['Alt', '↓'],
        ] as Keys,
      },
      { name: 'archive', keys: [['Alt', 'Shift', 'E']] as Keys },
      { name: 'help', keys: [['?']] as Keys },
    ],
  },
  {
    name: 'writing',
    shortcuts: [
      { name: 'send', keys: [['Enter']] as Keys },
      { name: 'line', keys: [['Shift', 'Enter']] as Keys },
      { name: 'note', keys: [['Ctrl', 'Alt', 'N']] as Keys },
      { name: 'escape', keys: [['Esc']] as Keys },
    ],
  },
] as const

/** The keyboard shortcuts of the inbox. */
export default function Shortcuts({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation('inbox')
  return (
    <Modal opened={opened} onClose={onClose} title={t('shortcuts.title')}>
      <Stack>
        {GROUPS.map(({ name, shortcuts }) => (
          <Stack key={name} gap={4}>
            <Title order={3} size="sm">
              {t(`shortcuts.${name}`)}
            </Title>
            <Table aria-label={t(`shortcuts.${name}`)} withRowBorders={false} verticalSpacing={4} horizontalSpacing={0}>
              <Table.Tbody>
                {shortcuts.map((shortcut) => (
                  <Table.Tr key={shortcut.name}>
                    <Table.Th fw={400} scope="row">
                      {t(`shortcuts.${shortcut.name}`)}
                    </Table.Th>
                    <Table.Td>
                      <Group gap="xs" justify="flex-end" wrap="nowrap">
                        {shortcut.keys.map((keys) => (
                          <Combination key={keys.join()} keys={keys} />
                        ))}
                      </Group>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Stack>
        ))}
      </Stack>
    </Modal>
  )
}

function Combination({ keys }: { keys: readonly string[] }) {
  return (
    <span>
      {keys.map((key, index) => (
        <Fragment key={key}>
          {index > 0 && ' + '}
          <Kbd>{key}</Kbd>
        </Fragment>
      ))}
    </span>
  )
}

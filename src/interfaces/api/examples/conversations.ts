// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "conversations.list": [
    {
      "name": "example",
      "query": {"chatNumber": "+5511987654321", "limit": "2"},
      "status": 200,
      "answer": {
        "success": true,
        "messages": [
          {
            "message": "Thank you!",
            "sender_type": "user-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "delivered",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [{"emoji": "👍", "created_at": "2026-03-02T09:00:00.000Z", "sender_type": "user-chat"}],
            "id": "01a20000-0000-7000-8000-000000000010",
            "message_id": "wamid.EXAMPLE12",
            "message_type": "text",
            "context_message_id": null,
            "error": null,
            "outcome": null
          },
          {
            "message": "Hello Ana",
            "sender_type": "bot-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "read",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [],
            "id": "01a20000-0000-7000-8000-000000000011",
            "message_id": "wamid.EXAMPLE1",
            "message_type": "text",
            "context_message_id": null,
            "error": null,
            "outcome": null
          }
        ],
        "pagination": {
          "currentPage": 1,
          "totalPages": 1,
          "totalMessages": 2,
          "messagesPerPage": 2,
          "hasNextPage": false,
          "hasPrevPage": false
        },
        "count": 2,
        "searchTerms": null,
        "filtered": false,
        "stored": true
      }
    },
    {
      "name": "contact_not_found",
      "query": {"chatNumber": "+5511955550000"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Contact not found",
        "message": "No contact with chatNumber +5511955550000 in this organization"
      }
    }
  ],
  "conversations.export": [
    {
      "name": "example",
      "query": {"chatNumber": "+5511987654321"},
      "status": 200,
      "answer": "id,message_id,created_at,sender_type,message_type,message,media_type,media_url,message_status,voice_note_transcription,assignee,reactions,context_message_id,error\r\n01a20000-0000-7000-8000-000000000011,wamid.EXAMPLE1,2026-03-02T09:00:00.000Z,bot-chat,text,Hello Ana,,,read,,,,,\r\n01a20000-0000-7000-8000-000000000010,wamid.EXAMPLE12,2026-03-02T09:00:00.000Z,user-chat,text,Thank you!,,,delivered,,,👍 user-chat,,\r\n"
    },
    {
      "name": "json",
      "query": {"chatNumber": "+5511987654321", "format": "json"},
      "status": 200,
      "answer": {
        "success": true,
        "messages": [
          {
            "message": "Hello Ana",
            "sender_type": "bot-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "read",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [],
            "id": "01a20000-0000-7000-8000-000000000011",
            "message_id": "wamid.EXAMPLE1",
            "message_type": "text",
            "context_message_id": null,
            "error": null,
            "outcome": null
          },
          {
            "message": "Thank you!",
            "sender_type": "user-chat",
            "created_at": "2026-03-02T09:00:00.000Z",
            "message_status": "delivered",
            "media_type": null,
            "media_url": null,
            "assignee": null,
            "voice_note_transcription": null,
            "reactions": [{"emoji": "👍", "created_at": "2026-03-02T09:00:00.000Z", "sender_type": "user-chat"}],
            "id": "01a20000-0000-7000-8000-000000000010",
            "message_id": "wamid.EXAMPLE12",
            "message_type": "text",
            "context_message_id": null,
            "error": null,
            "outcome": null
          }
        ]
      }
    },
    {
      "name": "contact_not_found",
      "query": {"chatNumber": "+5511955550000"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Contact not found",
        "message": "No contact with chatNumber +5511955550000 in this organization"
      }
    }
  ]
}

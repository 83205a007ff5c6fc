// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "broadcasts.create": [
    {
      "name": "example",
      "body": {
        "name": "Easter",
        "templateName": "hello_world",
        "audience": {"tags": ["newsletter"]},
        "scheduled_at": "2026-03-03T09:00:00.000Z"
      },
      "status": 202,
      "answer": {
        "success": true,
        "broadcast": {
          "id": "01a20000-0000-7000-8000-000000000015",
          "name": "Easter",
          "templateName": "hello_world",
          "language": "en_US",
          "status": "scheduled",
          "totalRecipients": 1,
          "skippedRecipients": 0,
          "scheduled_at": "2026-03-03T09:00:00.000Z",
          "started_at": null,
          "completed_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "reason": null
        }
      }
    },
    {
      "name": "missing_required_field",
      "body": {"name": "Spring", "templateName": "hello_world", "audience": {}},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Missing required field",
        "message": "audience is required: give tags, contactIds, recipients, audienceId, or all: true"
      }
    }
  ],
  "broadcasts.pause": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000015"},
      "status": 200,
      "answer": {
        "success": true,
        "broadcast": {
          "id": "01a20000-0000-7000-8000-000000000015",
          "name": "Easter",
          "templateName": "hello_world",
          "language": "en_US",
          "status": "paused",
          "totalRecipients": 1,
          "skippedRecipients": 0,
          "scheduled_at": "2026-03-03T09:00:00.000Z",
          "started_at": null,
          "completed_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "reason": null
        }
      }
    },
    {
      "name": "invalid_broadcast_state",
      "path": {"id": "01a20000-0000-7000-8000-000000000015"},
      "status": 409,
      "answer": {
        "success": false,
        "error": "Invalid broadcast state",
        "message": "The broadcast is cancelled: only one that is scheduled or running can be paused"
      }
    }
  ],
  "broadcasts.resume": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000015"},
      "status": 200,
      "answer": {
        "success": true,
        "broadcast": {
          "id": "01a20000-0000-7000-8000-000000000015",
          "name": "Easter",
          "templateName": "hello_world",
          "language": "en_US",
          "status": "scheduled",
          "totalRecipients": 1,
          "skippedRecipients": 0,
          "scheduled_at": "2026-03-03T09:00:00.000Z",
          "started_at": null,
          "completed_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "reason": null
        }
      }
    },
    {
      "name": "invalid_broadcast_state",
      "path": {"id": "01a20000-0000-7000-8000-000000000015"},
      "status": 409,
      "answer": {
        "success": false,
        "error": "Invalid broadcast state",
        "message": "The broadcast is cancelled: only one that is paused can be resumed"
      }
    }
  ],
  "broadcasts.cancel": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000015"},
      "status": 200,
      "answer": {
        "success": true,
        "broadcast": {
          "id": "01a20000-0000-7000-8000-000000000015",
          "name": "Easter",
          "templateName": "hello_world",
          "language": "en_US",
          "status": "cancelled",
          "totalRecipients": 0,
          "skippedRecipients": 1,
          "scheduled_at": "2026-03-03T09:00:00.000Z",
          "started_at": null,
          "completed_at": "2026-03-02T09:00:00.000Z",
          "created_at": "2026-03-02T09:00:00.000Z",
          "reason": null
        }
      }
    },
    {
      "name": "invalid_broadcast_state",
      "path": {"id": "01a20000-0000-7000-8000-000000000015"},
      "status": 409,
      "answer": {
        "success": false,
        "error": "Invalid broadcast state",
        "message": "The broadcast is cancelled: only one that is scheduled or running or paused can be cancelled"
      }
    }
  ],
  "broadcasts.retryFailed": [
    {
      "name": "invalid_broadcast_state",
      "path": {"id": "01a20000-0000-7000-8000-000000000015"},
      "status": 409,
      "answer": {
        "success": false,
        "error": "Invalid broadcast state",
        "message": "The broadcast is cancelled: only one that is running or paused or completed can be retried"
      }
    },
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000016"},
      "status": 200,
      "answer": {
        "success": true,
        "broadcast": {
          "id": "01a20000-0000-7000-8000-000000000016",
          "name": "Spring",
          "templateName": "hello_world",
          "language": "en_US",
          "status": "running",
          "totalRecipients": 2,
          "skippedRecipients": 0,
          "scheduled_at": null,
          "started_at": "2026-03-02T09:00:00.000Z",
          "completed_at": null,
          "created_at": "2026-03-02T09:00:00.000Z",
          "reason": null
        },
        "retried": 1
      }
    }
  ],
  "broadcasts.get": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000016"},
      "status": 200,
      "answer": {
        "success": true,
        "broadcast": {
          "id": "01a20000-0000-7000-8000-000000000016",
          "name": "Spring",
          "templateName": "hello_world",
          "language": "en_US",
          "status": "completed",
          "totalRecipients": 2,
          "skippedRecipients": 0,
          "scheduled_at": null,
          "started_at": "2026-03-02T09:00:00.000Z",
          "completed_at": "2026-03-02T09:00:00.000Z",
          "created_at": "2026-03-02T09:00:00.000Z",
          "reason": null
        }
      }
    },
    {
      "name": "broadcast_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000017"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Broadcast not found",
        "message": "No broadcast with the id 01a20000-0000-7000-8000-000000000017 in this organization"
      }
    }
  ],
  "broadcasts.listRecipients": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000016"},
      "status": 200,
      "answer": {
        "success": true,
        "recipients": [
          {
            "contactId": "01a20000-0000-7000-8000-000000000002",
            "chatNumber": "5511987654321",
            "contactName": "Ana Souza",
            "status": "read",
            "reason": null,
            "messageId": "wamid.EXAMPLE14",
            "errorCode": null,
            "errorMessage": null,
            "sent_at": "2026-03-02T09:00:00.000Z",
            "delivered_at": "2026-03-02T09:00:00.000Z",
            "read_at": "2026-03-02T09:00:00.000Z"
          },
          {
            "contactId": "01a20000-0000-7000-8000-000000000007",
            "chatNumber": "5511900000001",
            "contactName": null,
            "status": "failed",
            "reason": null,
            "messageId": null,
            "errorCode": 131026,
            "errorMessage": "Message Undeliverable.",
            "sent_at": null,
            "delivered_at": null,
            "read_at": null
          }
        ],
        "pagination": {
          "currentPage": 1,
          "totalPages": 1,
          "totalRecipients": 2,
          "recipientsPerPage": 50,
          "hasNextPage": false,
          "hasPrevPage": false
        },
        "count": 2
      }
    },
    {
      "name": "csv",
      "path": {"id": "01a20000-0000-7000-8000-000000000016"},
      "query": {"format": "csv"},
      "status": 200,
      "answer": "contactId,chatNumber,contactName,status,reason,messageId,errorCode,errorMessage,sent_at,delivered_at,read_at\r\n01a20000-0000-7000-8000-000000000002,5511987654321,Ana Souza,read,,wamid.EXAMPLE14,,,2026-03-02T09:00:00.000Z,2026-03-02T09:00:00.000Z,2026-03-02T09:00:00.000Z\r\n01a20000-0000-7000-8000-000000000007,5511900000001,,failed,,,131026,Message Undeliverable.,,,\r\n"
    },
    {
      "name": "broadcast_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000017"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Broadcast not found",
        "message": "No broadcast with the id 01a20000-0000-7000-8000-000000000017 in this organization"
      }
    }
  ],
  "broadcasts.list": [
    {
      "name": "example",
      "query": {"limit": "10"},
      "status": 200,
      "answer": {
        "success": true,
        "broadcasts": [
          {
            "id": "01a20000-0000-7000-8000-000000000015",
            "name": "Easter",
            "templateName": "hello_world",
            "language": "en_US",
            "status": "cancelled",
            "totalRecipients": 0,
            "skippedRecipients": 1,
            "scheduled_at": "2026-03-03T09:00:00.000Z",
            "started_at": null,
            "completed_at": "2026-03-02T09:00:00.000Z",
            "created_at": "2026-03-02T09:00:00.000Z",
            "reason": null
          },
          {
            "id": "01a20000-0000-7000-8000-000000000016",
            "name": "Spring",
            "templateName": "hello_world",
            "language": "en_US",
            "status": "completed",
            "totalRecipients": 2,
            "skippedRecipients": 0,
            "scheduled_at": null,
            "started_at": "2026-03-02T09:00:00.000Z",
            "completed_at": "2026-03-02T09:00:00.000Z",
            "created_at": "2026-03-02T09:00:00.000Z",
            "reason": null
          }
        ],
        "pagination": {
          "currentPage": 1,
          "totalPages": 1,
          "totalBroadcasts": 2,
          "broadcastsPerPage": 10,
          "hasNextPage": false,
          "hasPrevPage": false
        },
        "count": 2
      }
    },
    {
      "name": "invalid_parameter",
      "query": {"status": "done"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid parameter",
        "message": "status must be one of scheduled, running, paused, cancelled, completed, not \"done\""
      }
    }
  ]
}

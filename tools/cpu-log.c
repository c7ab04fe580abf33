/* Preloaded into the servers of tools/test (LD_PRELOAD): when a process ends, it appends its database's OID
 * and the CPU seconds that it has used to the file CPU_LOG. Postgres itself has no such record, and a
 * client's own CPU time says nothing about the backends that worked for it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Postgres's own. Programs that a server starts inherit LD_PRELOAD, but do not have it. */
extern unsigned int MyDatabaseId __attribute__((weak));

__attribute__((destructor)) static void log_cpu(void)
{
    const char *path = getenv("CPU_LOG");
    struct rusage used;
    char line[64];
    int file, length;

    if (&MyDatabaseId == NULL || path == NULL || getrusage(RUSAGE_SELF, &used) != 0)
        return;
    length = snprintf(line, sizeof line, "%u %.3f\n", MyDatabaseId,
                      used.ru_utime.tv_sec + used.ru_stime.tv_sec +
                          (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    if (write(file, line, length) != length)
        unlink(path); /* half a line would be read as a wrong number */
    close(file);
}

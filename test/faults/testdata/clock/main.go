// Program clock says for each line what time it is, to Go and to C, and for how long it has run.
package main

/*
#include <sys/time.h>
#include <time.h>

static long day(void) { struct timeval now; gettimeofday(&now, NULL); return now.tv_sec; }
*/
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

func main() {
	begin := time.Now()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(time.Now().Unix(), C.time(nil), C.day(), int(time.Since(begin).Seconds()))
	}
}
